#include "model/files/safetensors_index.h"

#include "model/files/json_events.h"
#include "model/files/quoted.h"

namespace ingot {

namespace {

constexpr int deepest_index = 32;

bool is_plain_file_name(std::string_view name) {
  return name.ends_with(".safetensors") && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

// Only the texts directly inside the top object's weight_map count; everything else is skipped.
class IndexVisitor : public JsonVisitor {
 public:
  Result<void> begin_object() override {
    if (++depth_ == 2 && is_weight_map_next_) {
      if (has_weight_map_) return Error::of(ErrorCode::corrupt, "expected weight_map once, found it again");
      is_inside_ = has_weight_map_ = true;
    } else if (is_inside_) {
      return unexpected("an object");
    }
    return {};
  }
  Result<void> end_object() override {
    if (depth_-- == 2) is_inside_ = false;
    return {};
  }
  Result<void> begin_array() override {
    ++depth_;
    return other("a list");
  }
  Result<void> end_array() override {
    --depth_;
    return {};
  }
  Result<void> key(std::string_view name) override {
    if (depth_ == 1) is_weight_map_next_ = name == "weight_map";
    if (is_inside_) tensor_ = name;
    return {};
  }
  Result<void> text(std::string_view value) override {
    if (!is_inside_) return {};
    if (!is_plain_file_name(value)) {
      return Error::of(ErrorCode::corrupt, "weight_map ", Quoted{tensor_},
                       ": expected the name of a .safetensors file in the same folder, found ", Quoted{value});
    }
    tensors_.push_back({tensor_, std::string(value)});
    return {};
  }
  Result<void> integer(std::int64_t) override { return other("a number"); }
  Result<void> unsigned_integer(std::uint64_t) override { return other("a number"); }
  Result<void> number(double) override { return other("a number"); }
  Result<void> boolean(bool) override { return other("a boolean"); }
  Result<void> null() override { return other("null"); }

  Result<std::vector<ShardedTensor>> take() {
    if (!has_weight_map_) return Error::of(ErrorCode::corrupt, "expected an object weight_map, found none");
    return std::move(tensors_);
  }

 private:
  Error unexpected(std::string_view found) const {
    return Error::of(ErrorCode::corrupt, "weight_map ", Quoted{tensor_}, ": expected a file name, found ", found);
  }
  Result<void> other(std::string_view found) const {
    if (is_inside_) return unexpected(found);
    return {};
  }

  std::vector<ShardedTensor> tensors_;
  std::string tensor_;
  int depth_ = 0;
  bool is_weight_map_next_ = false;
  bool has_weight_map_ = false;
  bool is_inside_ = false;
};

}  // namespace

Result<std::vector<ShardedTensor>> read_safetensors_index(std::string_view json) {
  IndexVisitor visitor;
  TRY(read_json(json, visitor, deepest_index));
  return visitor.take();
}

}  // namespace ingot
