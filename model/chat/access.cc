#include "model/chat/access.h"

#include <algorithm>

#include "model/chat/dictionary.h"
#include "model/chat/functions/methods.h"
#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

Error undefined_error(const Value& value) { return Error::of(ErrorCode::invalid_argument, value.undefined_reason()); }

Value missing(const Value& value, const std::string& what) {
  return Value::undefined("expected '" + std::string(value.type_name()) + "' to have " + what + ", found it undefined");
}

std::vector<Value> characters_of(const Value& value) {
  const Text& text = value.as_text();
  std::vector<Value> characters;
  characters.reserve(text.length);
  for (std::size_t offset = 0; offset < text.bytes.size();) {
    const std::size_t bytes = decode_code_point(text.bytes, offset).bytes;
    characters.push_back(Value::text(text.part(std::string_view(text.bytes).substr(offset, bytes))));
    offset += bytes;
  }
  return characters;
}

struct SliceBounds {
  std::int64_t start, stop, step, count;
};

Result<std::int64_t> slice_bound(const Value& value, std::int64_t otherwise) {
  if (value.is_none()) return otherwise;
  if (const auto integer = value.integer_value()) return *integer;
  return Error::of(ErrorCode::invalid_argument, "expected an integer in a slice, found ", value.type_name());
}

// PySlice_AdjustIndices: negative bounds count from the end, and all are clamped.
Result<SliceBounds> slice_bounds(const Value& start_value, const Value& stop_value, const Value& step_value,
                                 std::int64_t length) {
  const std::int64_t step = TRY(slice_bound(step_value, 1));
  if (step == 0) return Error::of(ErrorCode::invalid_argument, "expected a step of a slice, found 0");
  const std::int64_t lowest = step < 0 ? -1 : 0;
  const std::int64_t highest = step < 0 ? length - 1 : length;
  const auto adjust = [&](std::int64_t bound) {
    if (bound < 0) return bound < -length ? lowest : bound + length;
    return std::min(bound, highest);
  };
  const std::int64_t start =
      start_value.is_none() ? (step < 0 ? highest : lowest) : adjust(TRY(slice_bound(start_value, 0)));
  const std::int64_t stop =
      stop_value.is_none() ? (step < 0 ? lowest : highest) : adjust(TRY(slice_bound(stop_value, 0)));
  return SliceBounds{start, stop, step, Range{start, stop, step}.length()};
}

Value sliced_text(const Value& value, const SliceBounds& bounds) {
  const Text& text = value.as_text();
  const std::string_view bytes = text.bytes;
  if (bounds.step == 1) {
    const auto start = static_cast<std::size_t>(bounds.start);
    const auto count = static_cast<std::size_t>(bounds.count);
    if (text.is_ascii()) return part_of(value, bytes.substr(start, count));
    const std::size_t first = offset_of_code_point(bytes, start);
    return part_of(value, bytes.substr(first, offset_of_code_point(bytes.substr(first), count)));
  }
  const std::u32string characters = code_points_of(bytes);
  std::string out;
  for (std::int64_t index = 0; index < bounds.count; ++index) {
    append_code_point(out, characters[static_cast<std::size_t>(bounds.start + index * bounds.step)]);
  }
  return Value::text_like(MarkedText::made(std::move(out), text.is_marked()), text.is_markup);
}

Result<std::optional<Value>> element_at(const Value& value, std::int64_t index, Runtime& runtime) {
  const auto length_result = length_of(value);
  const std::int64_t length = length_result.ok() ? length_result.value() : 0;
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::optional<Value>();
  const auto place = static_cast<std::size_t>(index);
  switch (value.kind()) {
    case Kind::text: {
      const Text& text = value.as_text();
      if (text.is_ascii()) return std::optional(part_of(value, std::string_view(text.bytes).substr(place, 1)));
      TRY(runtime.budget.spend_bytes(text.bytes.size()));
      return std::optional(sliced_text(value, {index, index + 1, 1, 1}));
    }
    case Kind::sequence:
      if (value.is_list() || value.is_tuple()) return std::optional(value.items()[place]);
      return std::optional<Value>();
    case Kind::range: return std::optional(Value::integer(value.as_range().at(index)));
    default: return std::optional<Value>();
  }
}

// An item alone; empty where there is none.
Result<std::optional<Value>> find_item(const Value& value, const Value& index, Runtime& runtime) {
  if (value.is(Kind::dictionary)) {
    const Value* found = value.as_dictionary().find(index);
    return found == nullptr ? std::optional<Value>() : std::optional(*found);
  }
  if (const auto integer = index.integer_value()) return element_at(value, *integer, runtime);
  return std::optional<Value>();
}

bool is_private(std::string_view name) { return name.starts_with("__"); }

}  // namespace

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::text:
    case Kind::sequence:
    case Kind::dictionary:
    case Kind::range:
    case Kind::iterator: return true;
    default: return false;
  }
}

Result<std::vector<Value>> items_of(const Value& value, Runtime& runtime) {
  const auto spend = [&runtime](std::size_t count) -> Result<void> {
    TRY(runtime.budget.spend_steps(count));
    return runtime.budget.spend_bytes(count * sizeof(Value));
  };
  switch (value.kind()) {
    case Kind::undefined: return std::vector<Value>();
    case Kind::text:
      // Each character becomes an object of its own.
      TRY(runtime.budget.spend_bytes(value.as_text().length * sizeof(Text)));
      TRY(spend(value.as_text().length));
      return characters_of(value);
    case Kind::sequence: TRY(spend(value.items().size())); return value.items();
    case Kind::dictionary: TRY(spend(value.as_dictionary().size())); return value.as_dictionary().keys();
    case Kind::range: {
      const Range& range = value.as_range();
      TRY(spend(static_cast<std::size_t>(range.length())));
      std::vector<Value> numbers;
      for (std::int64_t index = 0; index < range.length(); ++index) numbers.push_back(Value::integer(range.at(index)));
      return numbers;
    }
    case Kind::iterator: {
      Iterator& iterator = value.as_iterator();
      TRY(spend(iterator.items.size() - iterator.position));
      std::vector<Value> rest(iterator.items.begin() + static_cast<std::ptrdiff_t>(iterator.position),
                              iterator.items.end());
      iterator.position = iterator.items.size();
      return rest;
    }
    default:
      return Error::of(ErrorCode::invalid_argument, "expected something to loop over, found ", value.type_name());
  }
}

Result<std::int64_t> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined: return std::int64_t{0};
    case Kind::text: return static_cast<std::int64_t>(value.as_text().length);
    case Kind::sequence: return static_cast<std::int64_t>(value.items().size());
    case Kind::dictionary: return static_cast<std::int64_t>(value.as_dictionary().size());
    case Kind::range: return value.as_range().length();
    default:
      return Error::of(ErrorCode::invalid_argument, "expected something with a length, found ", value.type_name());
  }
}

Result<Value> slice(const Value& value, const Value& start, const Value& stop, const Value& step, Runtime& runtime) {
  if (value.is_undefined()) return undefined_error(value);
  const bool can_slice = value.is_text() || value.is_list() || value.is_tuple() || value.is(Kind::range);
  if (!can_slice)
    return Error::of(ErrorCode::invalid_argument, "expected something to slice, found ", value.type_name());
  const std::int64_t length = TRY(length_of(value));
  const SliceBounds bounds = TRY(slice_bounds(start, stop, step, length));
  if (value.is_text()) {
    TRY(runtime.budget.spend_bytes(value.bytes().size()));
    return sliced_text(value, bounds);
  }
  if (value.is(Kind::range)) {
    const Range& range = value.as_range();
    const std::int64_t stride = Range{0, 0, range.step}.at(bounds.step);
    return Value::range({range.at(bounds.start), range.at(bounds.stop), stride == 0 ? 1 : stride});
  }
  TRY(runtime.budget.spend_bytes(static_cast<std::uint64_t>(bounds.count) * sizeof(Value)));
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(bounds.count));
  for (std::int64_t index = 0; index < bounds.count; ++index) {
    items.push_back(value.items()[static_cast<std::size_t>(bounds.start + index * bounds.step)]);
  }
  return Value::sequence(value.is_list() ? SequenceForm::list : SequenceForm::tuple, std::move(items));
}

Result<Value> get_attribute_only(const Value& value, std::string_view name, Runtime& runtime) {
  if (value.is_undefined()) return undefined_error(value);
  if (is_private(name)) return missing(value, "no private attributes such as '" + std::string(name) + "'");
  if (value.is(Kind::object)) {
    std::optional<Value> attribute = TRY(value.as_object()->attribute(runtime, name));
    if (attribute) return *std::move(attribute);
  }
  if (is_altering_method(value, name)) {
    return Value::undefined("expected a method that alters nothing, found '" + std::string(name) + "' of " +
                            std::string(value.type_name()));
  }
  if (const MethodFunction method = find_method(value, name)) {
    return make_function(
        std::string(name),
        [method, value](Runtime& caller, const Arguments& arguments) { return method(caller, value, arguments); },
        value.depth() + 1);
  }
  if (value.is(Kind::sequence) && value.as_sequence().form == SequenceForm::group) {
    if (name == "grouper") return value.items()[0];
    if (name == "list") return value.items()[1];
  }
  return missing(value, "an attribute '" + std::string(name) + "'");
}

Result<Value> get_attribute(const Value& value, std::string_view name, Runtime& runtime) {
  // Most attributes are keys of a dictionary that no method hides.
  if (value.is(Kind::dictionary) && !is_private(name) && !is_altering_method(value, name) &&
      find_method(value, name) == nullptr) {
    const Value* found = value.as_dictionary().find(name);
    if (found != nullptr) return *found;
  }
  return get_attribute_only(value, name, runtime);
}

Result<Value> get_item(const Value& value, const Value& index, Runtime& runtime) {
  if (value.is_undefined()) return undefined_error(value);
  std::optional<Value> item = TRY(find_item(value, index, runtime));
  if (item) return *std::move(item);
  if (index.is_text()) return get_attribute_only(value, index.bytes(), runtime);
  return missing(value, "an item " + TRY(representation_of(index, runtime)));
}

}  // namespace ingot::chat
