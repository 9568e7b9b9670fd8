#include "model/files/json_metadata.h"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "model/files/json_events.h"
#include "model/files/quoted.h"

namespace ingot {

namespace {

constexpr int deepest_configuration = 64;
// Every leaf repeats its whole path, so both bounds together keep the memory for it within reason.
constexpr std::size_t longest_path = 256;
constexpr std::size_t longest_configuration = std::size_t{8} << 20;

using Scalar = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

template <class Kind>
bool all_are(const std::vector<Scalar>& values) {
  return std::ranges::all_of(values, [](const Scalar& value) { return std::holds_alternative<Kind>(value); });
}

bool are_numbers(const std::vector<Scalar>& values) {
  return std::ranges::none_of(values, [](const Scalar& value) {
    return std::holds_alternative<bool>(value) || std::holds_alternative<std::string>(value);
  });
}

double number_of(const Scalar& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* large = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*large);
  return std::get<double>(value);
}

class Flattener : public JsonVisitor {
 public:
  Metadata take() { return std::move(metadata_); }

  Result<void> begin_object() override {
    TRY(begin_container());
    frames_.push_back({path_.size(), false, false, 0, {}});
    return {};
  }
  Result<void> end_object() override {
    frames_.pop_back();
    leave();
    return {};
  }
  Result<void> key(std::string_view name) override {
    path_.resize(frames_.back().path_length);
    return extend(name);
  }
  Result<void> begin_array() override {
    if (frames_.empty()) return Error::of(ErrorCode::corrupt, "expected an object, found a list");
    TRY(begin_container());
    frames_.push_back({path_.size(), true, false, 0, {}});
    return {};
  }
  Result<void> end_array() override {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    path_.resize(frame.path_length);
    if (!frame.is_split) TRY(set_list(frame.pending));
    leave();
    return {};
  }
  Result<void> text(std::string_view value) override { return add(std::string(value)); }
  Result<void> integer(std::int64_t value) override { return add(value); }
  Result<void> unsigned_integer(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return add(value);
    return add(static_cast<std::int64_t>(value));
  }
  Result<void> number(double value) override { return add(value); }
  Result<void> boolean(bool value) override { return add(value); }
  Result<void> null() override {
    if (frames_.empty()) return no_object();
    if (!frames_.back().is_array) {
      metadata_.set_null(path_);
      return {};
    }
    TRY(split());
    ++frames_.back().index;
    return {};
  }

 private:
  struct Frame {
    std::size_t path_length;
    bool is_array;
    bool is_split;  // its elements have keys of their own
    std::size_t index;
    std::vector<Scalar> pending;  // elements so far, until the array is split
  };

  static Error no_object() { return Error::of(ErrorCode::corrupt, "expected an object, found a single value"); }

  Result<void> extend(std::string_view part) {
    if (path_.size() + part.size() + 1 > longest_path) {
      return Error::of(ErrorCode::corrupt, "expected joined keys of at most ", longest_path, " bytes, found ",
                       path_.size() + part.size() + 1, " at ", Quoted{path_});
    }
    if (!path_.empty()) path_ += '.';
    path_ += part;
    return {};
  }

  Result<void> extend_by_index(std::size_t index) {
    path_.resize(frames_.back().path_length);
    return extend(std::to_string(index));
  }

  // A container inside an array can only be told apart by its index.
  Result<void> begin_container() {
    if (frames_.empty() || !frames_.back().is_array) return {};
    TRY(split());
    return extend_by_index(frames_.back().index);
  }

  void leave() {
    if (!frames_.empty() && frames_.back().is_array) ++frames_.back().index;
  }

  Result<void> split() {
    Frame& frame = frames_.back();
    if (frame.is_split) return {};
    frame.is_split = true;
    const std::vector<Scalar> pending = std::move(frame.pending);
    path_.resize(frame.path_length);
    return set_each(pending);
  }

  Result<void> add(Scalar value) {
    if (frames_.empty()) return no_object();
    Frame& frame = frames_.back();
    if (!frame.is_array) return set(value);
    const std::size_t index = frame.index++;
    if (!frame.is_split) {
      frame.pending.push_back(std::move(value));
      return {};
    }
    TRY(extend_by_index(index));
    return set(value);
  }

  Result<void> require_new() {
    if (!metadata_.has(path_)) return {};
    return Error::of(ErrorCode::corrupt, "expected every key once, found ", Quoted{path_}, " again");
  }

  Result<void> set(const Scalar& value) {
    TRY(require_new());
    if (const auto* text = std::get_if<std::string>(&value)) {
      metadata_.set_text(path_, *text);
    } else if (const auto* boolean = std::get_if<bool>(&value)) {
      metadata_.set_boolean(path_, *boolean);
    } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      metadata_.set_integer(path_, *integer);
    } else if (const auto* large = std::get_if<std::uint64_t>(&value)) {
      metadata_.set_scalar(path_, *large);
    } else {
      metadata_.set_number(path_, std::get<double>(value));
    }
    return {};
  }

  // Under path.0, path.1, and so on.
  Result<void> set_each(const std::vector<Scalar>& values) {
    const std::size_t length = path_.size();
    for (std::size_t index = 0; index < values.size(); ++index) {
      path_.resize(length);
      TRY(extend(std::to_string(index)));
      TRY(set(values[index]));
    }
    path_.resize(length);
    return {};
  }

  Result<void> set_list(const std::vector<Scalar>& values) {
    const bool is_text = all_are<std::string>(values);
    const bool is_boolean = all_are<bool>(values);
    const bool is_integer = all_are<std::int64_t>(values);
    if (!is_text && !is_boolean && !are_numbers(values)) return set_each(values);
    TRY(require_new());
    if (is_integer) return set_scalars<std::int64_t>(values, [](const Scalar& s) { return std::get<std::int64_t>(s); });
    if (is_boolean) return set_scalars<bool>(values, [](const Scalar& s) { return std::get<bool>(s); });
    if (!is_text) return set_scalars<double>(values, number_of);
    std::vector<std::string_view> texts;
    texts.reserve(values.size());
    for (const Scalar& value : values) texts.emplace_back(std::get<std::string>(value));
    metadata_.set_text_list(path_, texts);
    return {};
  }

  template <class Element, class Convert>
  Result<void> set_scalars(const std::vector<Scalar>& values, Convert convert) {
    const auto elements = std::make_unique<Element[]>(values.size());  // a vector of bool has no span
    for (std::size_t index = 0; index < values.size(); ++index) elements[index] = convert(values[index]);
    metadata_.set_scalar_list<Element>(path_, std::span<const Element>(elements.get(), values.size()));
    return {};
  }

  Metadata metadata_;
  std::vector<Frame> frames_;
  std::string path_;
};

// Python writes numbers that are not finite as bare words, which are no JSON. Newer configurations say {"__float__":
// "Infinity"} in their place, and so does the result.
std::string with_spelled_words(std::string_view json) {
  std::string spelled;
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const std::string_view rest = json.substr(at);
    const std::string_view word = rest.starts_with("Infinity")    ? "Infinity"
                                  : rest.starts_with("-Infinity") ? "-Infinity"
                                  : rest.starts_with("NaN")       ? "NaN"
                                                                  : "";
    if (!in_text && !word.empty()) {
      spelled.append("{\"__float__\":\"").append(word).append("\"}");
      at += word.size() - 1;
      continue;
    }
    if (json[at] == '"') in_text = !in_text;
    spelled += json[at];
    if (in_text && json[at] == '\\' && at + 1 < json.size()) spelled += json[++at];
  }
  return spelled;
}

}  // namespace

Result<Metadata> metadata_from_json(std::string_view json) {
  if (json.size() > longest_configuration) {
    return Error::of(ErrorCode::corrupt, "expected a configuration of at most ", longest_configuration,
                     " bytes, found ", json.size());
  }
  Flattener flattener;
  const bool has_words = json.find("Infinity") != json.npos || json.find("NaN") != json.npos;
  TRY(read_json(has_words ? with_spelled_words(json) : json, flattener, deepest_configuration));
  return flattener.take();
}

}  // namespace ingot
