#include "model/files/safetensors_header.h"

#include <array>
#include <limits>

#include "model/files/json_events.h"
#include "model/files/quoted.h"

namespace ingot {

namespace {

constexpr int deepest_header = 128;

constexpr std::array types = {
    SafetensorsType{"BOOL", 8, std::nullopt},
    SafetensorsType{"F4", 4, std::nullopt},
    SafetensorsType{"F6_E2M3", 6, std::nullopt},
    SafetensorsType{"F6_E3M2", 6, std::nullopt},
    SafetensorsType{"U8", 8, DType::u8},
    SafetensorsType{"I8", 8, DType::i8},
    SafetensorsType{"F8_E5M2", 8, std::nullopt},
    SafetensorsType{"F8_E4M3", 8, std::nullopt},
    SafetensorsType{"F8_E8M0", 8, std::nullopt},
    SafetensorsType{"F8_E4M3FNUZ", 8, std::nullopt},
    SafetensorsType{"F8_E5M2FNUZ", 8, std::nullopt},
    SafetensorsType{"I16", 16, std::nullopt},
    SafetensorsType{"U16", 16, std::nullopt},
    SafetensorsType{"F16", 16, DType::f16},
    SafetensorsType{"BF16", 16, DType::bf16},
    SafetensorsType{"I32", 32, DType::i32},
    SafetensorsType{"U32", 32, std::nullopt},
    SafetensorsType{"F32", 32, DType::f32},
    SafetensorsType{"C64", 64, std::nullopt},
    SafetensorsType{"F64", 64, std::nullopt},
    SafetensorsType{"I64", 64, DType::i64},
    SafetensorsType{"U64", 64, std::nullopt},
};

// Follows the header's one shape. Values of fields that the format does not define are skipped, whatever they hold.
class HeaderVisitor : public JsonVisitor {
 public:
  SafetensorsHeader take() { return std::move(header_); }

  Result<void> begin_object() override {
    if (skip(1)) return {};
    switch (state_) {
      case State::start: state_ = State::header; return {};
      case State::header: state_ = is_metadata_next_ ? State::metadata : State::tensor; return {};
      default: return unexpected("an object");
    }
  }
  Result<void> end_object() override {
    if (skip(-1)) return {};
    if (state_ == State::tensor) TRY(finish_tensor());
    state_ = state_ == State::header ? State::end : State::header;
    return {};
  }
  Result<void> key(std::string_view name) override {
    if (skip(0)) return {};
    switch (state_) {
      case State::header: return begin_entry(name);
      case State::metadata: metadata_key_ = name; return {};
      default: return begin_field(name);
    }
  }
  Result<void> begin_array() override {
    if (skip(1)) return {};
    if (state_ != State::tensor || (field_ != Field::shape && field_ != Field::offsets)) return unexpected("a list");
    state_ = State::list;
    return {};
  }
  Result<void> end_array() override {
    if (skip(-1)) return {};
    state_ = State::tensor;
    if (field_ == Field::offsets && offset_count_ != 2) return wrong_offset_count(offset_count_);
    return {};
  }
  Result<void> text(std::string_view value) override {
    if (skip(0)) return {};
    if (state_ == State::metadata) {
      header_.metadata.set_text(metadata_key_, value);
      return {};
    }
    if (state_ != State::tensor || field_ != Field::dtype) return unexpected("text");
    header_.entries.back().type = find_safetensors_type(value);
    if (header_.entries.back().type != nullptr) return {};
    return Error::of(ErrorCode::corrupt, where(), "dtype: expected a type of the format, found ", Quoted{value});
  }
  Result<void> unsigned_integer(std::uint64_t value) override {
    if (skip(0)) return {};
    if (state_ != State::list) return unexpected("a number");
    return field_ == Field::shape ? add_size(value) : add_offset(value);
  }
  Result<void> integer(std::int64_t) override { return refuse("a negative number"); }
  Result<void> number(double) override { return refuse("a number with a fraction, an exponent or too many digits"); }
  Result<void> boolean(bool) override { return refuse("a boolean"); }
  Result<void> null() override {
    if (state_ == State::header && is_metadata_next_) return {};  // the same as no metadata
    return refuse("null");
  }

 private:
  enum class State : std::uint8_t { start, header, metadata, tensor, list, end };
  enum class Field : std::uint8_t { dtype, shape, offsets, unknown };

  // Whether this event belongs to an unknown field's value; `change` is what it does to the nesting.
  bool skip(int change) {
    if (state_ != State::tensor || field_ != Field::unknown) return false;
    if (change < 0 && skipped_depth_ == 0) return false;  // the end of the tensor itself
    if (change == 0 && skipped_depth_ == 0 && awaits_key_) return false;
    skipped_depth_ += change;
    if (skipped_depth_ == 0) awaits_key_ = true;
    return true;
  }

  std::string where() const {
    if (state_ == State::tensor || state_ == State::list) {
      return std::string(text_of("tensor ", Quoted{header_.entries.back().name}, ", ").view());
    }
    return state_ == State::metadata ? "__metadata__, " : "header, ";
  }
  std::string_view expectation() const {
    if (state_ == State::start) return "an object";
    if (state_ == State::header) return "an object for every name";
    if (state_ == State::metadata) return "text for every key";
    if (field_ == Field::dtype) return "dtype: text";
    return field_ == Field::shape ? "shape: a list of sizes" : "data_offsets: a list of two offsets";
  }
  Error unexpected(std::string_view found) const {
    return Error::of(ErrorCode::corrupt, where(), "expected ", expectation(), ", found ", found);
  }
  Result<void> refuse(std::string_view found) {
    if (skip(0)) return {};
    return unexpected(found);
  }
  Error wrong_offset_count(int found) const {
    return Error::of(ErrorCode::corrupt, where(), "data_offsets: expected 2 offsets, found ", found,
                     found > 2 ? " or more" : "");
  }

  Result<void> begin_entry(std::string_view name) {
    is_metadata_next_ = name == safetensors_metadata_name;
    if (is_metadata_next_) {
      if (has_metadata_) return Error::of(ErrorCode::corrupt, "header, expected __metadata__ once, found it again");
      has_metadata_ = true;
      return {};
    }
    header_.entries.emplace_back().name = name;
    seen_[0] = seen_[1] = seen_[2] = false;
    field_ = Field::dtype;
    return {};
  }

  Result<void> begin_field(std::string_view name) {
    constexpr std::string_view names[] = {"dtype", "shape", "data_offsets"};
    field_ = Field::unknown;
    awaits_key_ = false;
    offset_count_ = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      if (name != names[index]) continue;
      if (seen_[index]) return Error::of(ErrorCode::corrupt, where(), "expected ", name, " once, found it again");
      seen_[index] = true;
      field_ = static_cast<Field>(index);
    }
    return {};
  }

  Result<void> finish_tensor() {
    if (seen_[0] && seen_[1] && seen_[2]) return {};
    const std::string_view missing = !seen_[0] ? "dtype" : !seen_[1] ? "shape" : "data_offsets";
    return Error::of(ErrorCode::corrupt, where(), "expected ", missing, ", found no such field");
  }

  Result<void> add_size(std::uint64_t value) {
    Shape& shape = header_.entries.back().shape;
    if (shape.rank() == max_rank) {
      return Error::of(ErrorCode::unsupported, where(), "shape: expected at most ", max_rank, " sizes, found more");
    }
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return Error::of(ErrorCode::overflow, where(), "shape: expected a size within 63 bits, found ", value);
    }
    shape.push_back(static_cast<std::int64_t>(value));
    return {};
  }

  Result<void> add_offset(std::uint64_t value) {
    if (++offset_count_ > 2) return wrong_offset_count(offset_count_);
    SafetensorsEntry& entry = header_.entries.back();
    (offset_count_ == 1 ? entry.begin : entry.end) = value;
    return {};
  }

  SafetensorsHeader header_;
  State state_ = State::start;
  Field field_ = Field::dtype;
  bool seen_[3] = {};  // dtype, shape, data_offsets of the current tensor
  int offset_count_ = 0;
  int skipped_depth_ = 0;
  bool awaits_key_ = false;  // an unknown field's value is over
  bool is_metadata_next_ = false;
  bool has_metadata_ = false;
  std::string metadata_key_;
};

}  // namespace

const SafetensorsType* find_safetensors_type(std::string_view name) {
  for (const SafetensorsType& type : types) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

const SafetensorsType* find_safetensors_type(DType dtype) {
  for (const SafetensorsType& type : types) {
    if (type.dtype == dtype) return &type;
  }
  return nullptr;
}

Result<SafetensorsHeader> read_safetensors_header(std::string_view json) {
  HeaderVisitor visitor;
  TRY(read_json(json, visitor, deepest_header));
  return visitor.take();
}

}  // namespace ingot
