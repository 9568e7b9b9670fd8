#include "model/chat/functions/globals.h"

#include "model/chat/access.h"
#include "model/chat/dictionary.h"
#include "model/chat/runtime.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

// The sandbox's limit, of Jinja too.
constexpr std::int64_t longest_range = 100'000;

Result<Value> make_range(Runtime&, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("range", arguments, {"start", "stop", "step"}, 1));
  for (std::size_t index = 0; index < arguments.positional.size(); ++index) {
    if (!bound[index].integer_value()) {
      return Error::of(ErrorCode::invalid_argument, "expected integers for a range, found ", bound[index].type_name());
    }
  }
  Range range = {0, TRY(bound.integer(0, 0)), 1};
  if (bound.has(1)) range = {range.stop, TRY(bound.integer(1, 0)), TRY(bound.integer(2, 1))};
  if (range.step == 0) return Error::of(ErrorCode::invalid_argument, "expected a step of a range, found 0");
  if (range.length() > longest_range) {
    return Error::of(ErrorCode::out_of_range, "expected a range of at most ", longest_range, " numbers, found ",
                     range.length());
  }
  return Value::range(range);
}

// Entries of a dictionary or of a list of pairs, then those by name.
Result<Dictionary> entries_of(std::string_view function, const Arguments& arguments, Runtime& runtime) {
  const Arguments positional = {arguments.positional, {}};
  const BoundArguments bound = TRY(bind(function, positional, {"entries"}));
  Dictionary dictionary;
  if (bound[0].is(Kind::dictionary)) {
    dictionary = bound[0].as_dictionary();
    TRY(runtime.budget.spend_bytes(dictionary.size() * 4 * sizeof(Value)));
  } else if (bound.has(0)) {
    for (const Value& pair : TRY(items_of(bound[0], runtime))) {
      std::vector<Value> parts = TRY(items_of(pair, runtime));
      if (parts.size() != 2 || !dictionary.insert(std::move(parts[0]), std::move(parts[1]))) {
        return Error::of(ErrorCode::invalid_argument, "expected pairs of a key and a value, found ", pair.type_name());
      }
    }
  }
  for (const auto& [name, value] : arguments.named) dictionary.insert(name, value);
  return dictionary;
}

Result<Value> make_dictionary(Runtime& runtime, const Arguments& arguments) {
  return Value::dictionary(TRY(entries_of("dict", arguments, runtime)));
}

Result<Value> make_namespace(Runtime& runtime, const Arguments& arguments) {
  const Dictionary entries = TRY(entries_of("namespace", arguments, runtime));
  auto made = std::make_shared<Namespace>();
  for (const Dictionary::Entry& entry : entries.entries()) {
    if (entry.key.is_text()) TRY(made->set_attribute(entry.key.bytes(), entry.value));
  }
  TRY(runtime.keep(made));
  return Value::object(std::move(made));
}

Result<Value> raise_exception(Runtime& runtime, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("raise_exception", arguments, {"message"}, 1));
  return Error::of(ErrorCode::invalid_argument, TRY(text_of(bound[0], runtime)));
}

// Goes round its items, one a call of next().
class Cycler : public Object, public std::enable_shared_from_this<Cycler> {
 public:
  explicit Cycler(Value items) : items_(std::move(items)) {}

  std::string_view type_name() const override { return "Cycler"; }
  int depth() const override { return items_.depth() + 1; }
  Result<std::optional<Value>> attribute(Runtime&, std::string_view name) override {
    if (name == "current") return std::optional(items_.items()[position_]);
    if (name != "next" && name != "reset") return std::optional<Value>();
    const bool is_reset = name == "reset";
    const auto step = [self = shared_from_this(), is_reset](Runtime&, const Arguments&) -> Result<Value> {
      Value current = self->items_.items()[self->position_];
      self->position_ = is_reset ? 0 : (self->position_ + 1) % self->items_.items().size();
      return is_reset ? Value() : current;
    };
    return std::optional(make_function(std::string(name), step, depth() + 1));
  }

 private:
  Value items_;
  std::size_t position_ = 0;
};

Result<Value> make_cycler(Runtime&, const Arguments& arguments) {
  if (arguments.positional.empty() || !arguments.named.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected items for a cycler, found none");
  }
  return Value::object(std::make_shared<Cycler>(Value::tuple(arguments.positional)));
}

// Nothing the first time it is called, then the separator.
Result<Value> make_joiner(Runtime&, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("joiner", arguments, {"sep"}));
  const Value separator = bound.has(0) ? bound[0] : Value::text(", ");
  const auto is_used = std::make_shared<bool>(false);
  const auto join = [separator, is_used](Runtime&, const Arguments&) -> Result<Value> {
    return std::exchange(*is_used, true) ? separator : Value::text("");
  };
  return make_function("joiner", join, separator.depth() + 1);
}

struct Global {
  std::string_view name;
  Result<Value> (*function)(Runtime&, const Arguments&);
};

constexpr Global globals[] = {
    {"cycler", make_cycler},
    {"dict", make_dictionary},
    {"joiner", make_joiner},
    {"namespace", make_namespace},
    {"raise_exception", raise_exception},
    {"range", make_range},
};

}  // namespace

std::optional<Value> find_global(std::string_view name) {
  for (const Global& global : globals) {
    if (global.name == name) return make_function(std::string(name), global.function);
  }
  return std::nullopt;
}

}  // namespace ingot::chat
