#include "model/files/json_events.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace ingot {

namespace {

// What nlohmann's parser calls; it keeps its nesting in a vector of bits, not on the stack.
class Adapter {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Adapter(JsonVisitor& visitor, int deepest) : visitor_(visitor), deepest_(deepest) {}

  bool null() { return keep(visitor_.null()); }
  bool boolean(bool value) { return keep(visitor_.boolean(value)); }
  bool number_integer(number_integer_t value) { return keep(visitor_.integer(value)); }
  bool number_unsigned(number_unsigned_t value) { return keep(visitor_.unsigned_integer(value)); }
  bool number_float(number_float_t value, const string_t&) { return keep(visitor_.number(value)); }
  bool string(string_t& value) { return keep(visitor_.text(value)); }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return descend() && keep(visitor_.begin_object()); }
  bool key(string_t& name) { return keep(visitor_.key(name)); }
  bool end_object() { return ascend() && keep(visitor_.end_object()); }
  bool start_array(std::size_t) { return descend() && keep(visitor_.begin_array()); }
  bool end_array() { return ascend() && keep(visitor_.end_array()); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    if (!error_) error_ = Error::of(ErrorCode::corrupt, "expected JSON, found a syntax error at byte ", position);
    return false;
  }

  Result<void> result(bool finished) const {
    if (error_) return *error_;
    if (!finished) return Error::of(ErrorCode::corrupt, "expected JSON, found something else");
    return {};
  }

 private:
  bool keep(Result<void> result) {
    if (!result.ok()) error_ = result.error();
    return result.ok();
  }
  bool descend() {
    if (++depth_ <= deepest_) return true;
    error_ = Error::of(ErrorCode::corrupt, "expected JSON nested at most ", deepest_, " deep, found more");
    return false;
  }
  bool ascend() {
    --depth_;
    return true;
  }

  JsonVisitor& visitor_;
  int deepest_;
  int depth_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<void> read_json(std::string_view json, JsonVisitor& visitor, int deepest) {
  // The parser takes a zero byte for the end of its input and skips a byte order mark.
  if (const std::size_t zero = json.find('\0'); zero != std::string_view::npos) {
    return Error::of(ErrorCode::corrupt, "expected JSON, found a zero byte at byte ", zero);
  }
  if (json.starts_with("\xef\xbb\xbf")) {
    return Error::of(ErrorCode::corrupt, "expected JSON, found a byte order mark");
  }
  Adapter adapter(visitor, deepest);
  const bool finished = nlohmann::json::sax_parse(json.begin(), json.end(), &adapter);
  return adapter.result(finished);
}

}  // namespace ingot
