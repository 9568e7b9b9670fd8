#include "model/chat/value_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/chat/dictionary.h"

namespace ingot::chat {

namespace {

constexpr std::size_t deepest_nesting = 100;

// Whether a double may be another number than was written: it tells any two apart that have fifteen digits.
bool may_be_another(std::string_view text, double value) {
  const std::string_view mantissa = text.substr(0, text.find_first_of("eE"));
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const std::string_view digits = mantissa.substr(first);
  return !std::isnormal(value) || std::ranges::count_if(digits, [](char byte) { return byte != '.'; }) > 15;
}

// What nlohmann's parser calls, event by event; false stops it.
class ValueBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  ValueBuilder(std::size_t& left, DecimalCheck check) : left_(left), check_(check) {}
  bool null() override { return add(Value()); }
  bool boolean(bool value) override { return add(Value::boolean(value)); }
  bool number_integer(number_integer_t value) override { return add(Value::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return too_large(std::to_string(value));
    return add(Value::integer(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    // A whole number that does not fit arrives as a float.
    if (text.find_first_of(".eE") == string_t::npos) return too_large(text);
    const auto checked = check_ != nullptr ? check_(nearest_key(), text, value) : Result<void>();
    if (checked.ok()) return add(may_be_another(text, value) ? Value::floating(value, text) : Value::floating(value));
    error_ = checked.error();
    return false;
  }
  bool string(string_t& value) override { return add(Value::text(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool key(string_t& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool end_object() override {
    Value value = Value::dictionary(std::move(open_.back().entries));
    open_.pop_back();
    return add(std::move(value));
  }
  bool end_array() override {
    Value value = Value::list(std::move(open_.back().items));
    open_.pop_back();
    return add(std::move(value));
  }
  bool parse_error(std::size_t position, const std::string& last_token, const nlohmann::json::exception&) override {
    error_ = Error::of(ErrorCode::invalid_argument, "expected JSON, found '", last_token, "' at byte ", position);
    return false;
  }

  Result<Value> take() {
    if (error_) return *error_;
    return std::move(root_);
  }

 private:
  struct Container {
    bool is_object;
    std::string key;
    Dictionary entries;
    std::vector<Value> items;
  };

  bool open(bool is_object) {
    if (open_.size() == deepest_nesting) {
      error_ =
          Error::of(ErrorCode::out_of_range, "expected JSON at most ", deepest_nesting, " levels deep, found deeper");
      return false;
    }
    open_.push_back({is_object, {}, {}, {}});
    return true;
  }

  std::string_view nearest_key() const {
    for (auto container = open_.rbegin(); container != open_.rend(); ++container) {
      if (container->is_object) return container->key;
    }
    return "";
  }

  bool add(Value value) {
    if (left_ == 0) {
      error_ = Error::of(ErrorCode::out_of_range, "expected JSON of at most ", most_json_values, " values, found more");
      return false;
    }
    --left_;
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().entries.insert(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  bool too_large(const std::string& text) {
    error_ = Error::of(ErrorCode::overflow, "expected whole numbers of 64 bits in JSON, found ", text);
    return false;
  }

  std::vector<Container> open_;
  std::size_t& left_;
  DecimalCheck check_;
  Value root_;
  std::optional<Error> error_;
};

}  // namespace

Result<Value> value_from_json(std::string_view json) {
  std::size_t left = most_json_values;
  return value_from_json(json, left);
}

Result<Value> value_from_json(std::string_view json, std::size_t& left, DecimalCheck check) {
  ValueBuilder builder(left, check);
  nlohmann::json::sax_parse(json, &builder);
  return builder.take();
}

}  // namespace ingot::chat
