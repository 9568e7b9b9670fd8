// A value of a template: what Python would hold, with shared ownership. Everything but the objects (namespaces, loops)
// is immutable, as Jinja's immutable sandbox demands; so a value can be shared freely and cannot contain itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/chat/marked_text.h"

namespace ingot::chat {

class Dictionary;
class Object;
struct Iterator;
struct Range;
struct Sequence;
struct SpelledNumber;
struct Text;

enum class Kind : std::uint8_t {
  none,
  undefined,
  boolean,
  integer,
  floating,
  text,
  sequence,  // a list, a tuple or a dictionary's view
  dictionary,
  range,
  iterator,  // what map, select, reverse... give: can be walked once
  object,    // functions, macros, namespaces, loops
};

enum class SequenceForm : std::uint8_t { list, tuple, group, keys, values, items };

class Value {
 public:
  Value() = default;  // none

  // The reason is what an operation that refuses the value will say.
  static Value undefined(std::string reason);
  static Value boolean(bool value) { return Value(Storage(value)); }
  static Value integer(std::int64_t value) { return Value(Storage(value)); }
  static Value floating(double value) { return Value(Storage(value)); }
  // A number that was written with more digits than a double keeps. To templates it is the double.
  static Value floating(double value, std::string spelling);
  static Value text(std::string value);
  static Value text(MarkedText value) { return text_like(std::move(value), false); }
  // Text that counts as escaped already: adding to it escapes what is added.
  static Value markup(MarkedText value) { return text_like(std::move(value), true); }
  static Value text_like(MarkedText value, bool is_markup);
  static Value list(std::vector<Value> items) { return sequence(SequenceForm::list, std::move(items)); }
  static Value tuple(std::vector<Value> items) { return sequence(SequenceForm::tuple, std::move(items)); }
  static Value sequence(SequenceForm form, std::vector<Value> items);
  static Value dictionary(Dictionary value);
  static Value range(Range value);
  static Value iterator(std::vector<Value> items);
  static Value object(std::shared_ptr<Object> value) { return Value(Storage(std::move(value))); }

  Kind kind() const { return storage_.index() < spelled_index ? static_cast<Kind>(storage_.index()) : Kind::floating; }
  bool is(Kind kind_asked) const { return kind() == kind_asked; }
  bool is_none() const { return is(Kind::none); }
  bool is_undefined() const { return is(Kind::undefined); }
  bool is_text() const { return is(Kind::text); }
  bool is_list() const;
  bool is_tuple() const;

  // Precondition of each: the value is of that kind.
  const std::string& undefined_reason() const { return **std::get_if<1>(&storage_); }
  bool as_boolean() const { return *std::get_if<bool>(&storage_); }
  std::int64_t as_integer() const { return *std::get_if<std::int64_t>(&storage_); }
  double as_floating() const;
  // Of a number: as it was written, or empty where that is what the double says.
  std::string_view spelling() const;
  const Text& as_text() const { return **std::get_if<std::shared_ptr<const Text>>(&storage_); }
  const std::string& bytes() const;  // of a text
  const Sequence& as_sequence() const { return **std::get_if<std::shared_ptr<const Sequence>>(&storage_); }
  const std::vector<Value>& items() const;  // of a sequence
  const Dictionary& as_dictionary() const { return **std::get_if<std::shared_ptr<const Dictionary>>(&storage_); }
  const Range& as_range() const { return **std::get_if<std::shared_ptr<const Range>>(&storage_); }
  Iterator& as_iterator() const { return **std::get_if<std::shared_ptr<Iterator>>(&storage_); }
  const std::shared_ptr<Object>& as_object() const { return *std::get_if<std::shared_ptr<Object>>(&storage_); }

  // A boolean is an integer too, as in Python.
  std::optional<std::int64_t> integer_value() const;
  std::optional<double> number_value() const;

  // Containers inside one another: 0 for a scalar. Walks and destructors recurse this deep, so a render bounds it.
  int depth() const;
  // Whether it holds text that came from messages. An object might, so it counts as if it did.
  bool is_marked() const;
  // The same object, or for scalars the same kind and value.
  bool is_same_as(const Value& other) const;
  // As Python names types: "str", "list", ...
  std::string_view type_name() const;

 private:
  // In the order of Kind, and behind them numbers of kind floating that have a spelling.
  using Storage =
      std::variant<std::monostate, std::shared_ptr<const std::string>, bool, std::int64_t, double,
                   std::shared_ptr<const Text>, std::shared_ptr<const Sequence>, std::shared_ptr<const Dictionary>,
                   std::shared_ptr<const Range>, std::shared_ptr<Iterator>, std::shared_ptr<Object>,
                   std::shared_ptr<const SpelledNumber>>;
  static constexpr std::size_t spelled_index = std::variant_size_v<Storage> - 1;
  explicit Value(Storage storage) : storage_(std::move(storage)) {}

  Storage storage_;
};

struct Text : MarkedText {
  std::size_t length;  // in code points
  bool is_markup;

  bool is_ascii() const { return length == bytes.size(); }
};

struct SpelledNumber {
  double value;
  std::string spelling;
};

struct Sequence {
  SequenceForm form;
  std::vector<Value> items;
  int depth;
  bool is_marked;
};

struct Range {
  std::int64_t start, stop, step;

  std::int64_t length() const;
  // Precondition: 0 <= index < length(). Unsigned, because an intermediate product may not fit.
  std::int64_t at(std::int64_t index) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                     static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(step));
  }
};

struct Iterator {
  std::vector<Value> items;
  std::size_t position = 0;
  int depth = 0;
  bool is_marked = false;
};

// A part of a text: `part` points into its bytes.
Value part_of(const Value& text, std::string_view part);
// What an operation made of a text; `of_marked` where something else went into it that was marked.
Value changed(const Value& text, std::string made, bool of_marked = false);
// The same letters in another case.
Value recased(const Value& text, std::string made);

}  // namespace ingot::chat
