// The `loop` of a for statement. Items are drawn one at a time, because a loop's condition may depend on what the body
// did in earlier rounds; asking for loop.last draws one ahead, and asking for loop.length all of them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "model/chat/object.h"

namespace ingot::chat {

class Loop : public Object, public std::enable_shared_from_this<Loop> {
 public:
  using Draw = std::function<Result<std::optional<Value>>()>;
  using Recursion = std::function<Result<Value>(const Value& iterable)>;

  // The length where it is known without drawing; the recursion where the loop may call itself.
  Loop(Draw draw, std::optional<std::int64_t> length, int depth, Recursion recursion)
      : draw_(std::move(draw)), length_(length), recursion_(std::move(recursion)), nesting_(depth) {}

  // To the next item; false at the end.
  Result<bool> advance();
  const Value& current() const { return current_; }

  std::string_view type_name() const override { return "LoopContext"; }
  bool is_callable() const override { return true; }
  Result<Value> call(Runtime& runtime, const Arguments& arguments) override;
  Result<std::optional<Value>> attribute(Runtime& runtime, std::string_view name) override;
  void release() override;

 private:
  Result<std::optional<Value>> draw();
  Result<bool> has_next();
  Result<std::int64_t> length();
  Result<Value> changed(const Arguments& arguments, Runtime& runtime);

  Draw draw_;
  std::optional<std::int64_t> length_;
  Recursion recursion_;
  int nesting_;
  std::int64_t index_ = -1;
  std::deque<Value> ahead_;
  Value current_;
  Value previous_;
  std::optional<Value> last_changed_;
};

}  // namespace ingot::chat
