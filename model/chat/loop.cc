#include "model/chat/loop.h"

#include "model/chat/runtime.h"
#include "model/chat/value_compare.h"

namespace ingot::chat {

Result<std::optional<Value>> Loop::draw() {
  if (!draw_) return std::optional<Value>();
  return draw_();
}

Result<bool> Loop::has_next() {
  if (!ahead_.empty()) return true;
  std::optional<Value> next = TRY(draw());
  if (!next) return false;
  ahead_.push_back(*std::move(next));
  return true;
}

Result<bool> Loop::advance() {
  if (!TRY(has_next())) return false;
  previous_ = std::move(current_);
  current_ = std::move(ahead_.front());
  ahead_.pop_front();
  ++index_;
  return true;
}

Result<std::int64_t> Loop::length() {
  if (!length_) {
    for (std::optional<Value> next = TRY(draw()); next; next = TRY(draw())) ahead_.push_back(*std::move(next));
    length_ = index_ + 1 + static_cast<std::int64_t>(ahead_.size());
  }
  return *length_;
}

Result<Value> Loop::call(Runtime&, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("loop", arguments, {"iterable"}, 1));
  if (!recursion_) {
    return Error::of(ErrorCode::invalid_argument, "expected a loop marked 'recursive' to call, found one that is not");
  }
  return recursion_(bound[0]);
}

Result<Value> Loop::changed(const Arguments& arguments, Runtime& runtime) {
  // A loop that has ended holds nothing any more, lest it hold itself.
  if (!draw_) return Value::boolean(true);
  Value value = Value::tuple(arguments.positional);
  if (last_changed_ && TRY(equal(*last_changed_, value, runtime.budget))) return Value::boolean(false);
  last_changed_ = std::move(value);
  return Value::boolean(true);
}

Result<std::optional<Value>> Loop::attribute(Runtime&, std::string_view name) {
  const auto integer = [](std::int64_t value) { return std::optional(Value::integer(value)); };
  if (name == "index") return integer(index_ + 1);
  if (name == "index0") return integer(index_);
  if (name == "first") return std::optional(Value::boolean(index_ == 0));
  if (name == "last") return std::optional(Value::boolean(!TRY(has_next())));
  if (name == "length") return integer(TRY(length()));
  if (name == "revindex") return integer(TRY(length()) - index_);
  if (name == "revindex0") return integer(TRY(length()) - index_ - 1);
  if (name == "depth") return integer(nesting_ + 1);
  if (name == "depth0") return integer(nesting_);
  if (name == "previtem") {
    return std::optional(index_ == 0 ? Value::undefined("expected an item before the first, found none") : previous_);
  }
  if (name == "nextitem") {
    return std::optional(TRY(has_next()) ? ahead_.front()
                                         : Value::undefined("expected an item after the last, found none"));
  }
  if (name == "cycle") {
    return std::optional(
        make_function("cycle", [index = index_](Runtime&, const Arguments& arguments) -> Result<Value> {
          if (arguments.positional.empty()) {
            return Error::of(ErrorCode::invalid_argument, "expected items to cycle through, found none");
          }
          return arguments.positional[static_cast<std::size_t>(index) % arguments.positional.size()];
        }));
  }
  if (name == "changed") {
    return std::optional(
        make_function("changed", [self = shared_from_this()](Runtime& runtime, const Arguments& arguments) {
          return self->changed(arguments, runtime);
        }));
  }
  return std::optional<Value>();
}

void Loop::release() {
  draw_ = nullptr;
  recursion_ = nullptr;
  ahead_.clear();
  current_ = Value();
  previous_ = Value();
  last_changed_.reset();
}

}  // namespace ingot::chat
