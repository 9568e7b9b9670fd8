// The state of one render that functions, filters and tests share: what may still be spent, how deep we are, and the
// objects to let go of at the end.
#pragma once

#include <memory>
#include <vector>

#include "model/chat/budget.h"
#include "model/chat/object.h"

namespace ingot::chat {

// Deeper values than this are an error: walks over values and their destructors recurse.
constexpr int deepest_value = 120;

class Runtime {
 public:
  explicit Runtime(const Limits& limits) : budget(limits) {}
  ~Runtime() {
    for (const auto& object : kept_) object->release();
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  Budget budget;

  // Objects that could hold themselves are kept to the end and released there.
  Result<void> keep(std::shared_ptr<Object> object) {
    TRY(budget.spend_bytes(bytes_of_kept_object));
    kept_.push_back(std::move(object));
    return {};
  }

  // A level of recursion, for as long as it lives. One that takes much stack counts for several.
  class Level {
   public:
    explicit Level(Runtime& runtime, int weight = 1) : runtime_(runtime), weight_(weight) {
      runtime_.depth_ += weight_;
    }
    ~Level() { runtime_.depth_ -= weight_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool is_allowed() const { return runtime_.depth_ <= runtime_.budget.limits().depth; }
    Result<void> check() const {
      const int limit = runtime_.budget.limits().depth;
      if (is_allowed()) return {};
      return Error::of(ErrorCode::out_of_range, "expected at most ", limit,
                       " levels of nesting and recursion, found more");
    }

   private:
    Runtime& runtime_;
    int weight_;
  };

 private:
  static constexpr std::uint64_t bytes_of_kept_object = 512;  // with its scope

  std::vector<std::shared_ptr<Object>> kept_;
  int depth_ = 0;
};

}  // namespace ingot::chat
