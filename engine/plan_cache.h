// PlanCache: the plans of the shapes of passes that came, for as long as they are worth their memory.
#pragma once

#include <functional>
#include <list>
#include <memory>

#include "model/circuit/builder.h"
#include "model/plan/plan.h"

namespace ingot {

struct PlanBounds {
  // As many as there are ways to decode up to 64 sequences at once, and as many again with prompts beside them: a
  // service that has come to rest makes no plan any more.
  std::size_t plans = 128;
  // Of all of them. A step takes about 4 KiB, so this is 128 MiB: a model of 28 layers reaches the other bound first.
  std::size_t steps = std::size_t{1} << 15;
};

class PlanCache {
 public:
  explicit PlanCache(PlanBounds bounds = {}) : bounds_(bounds) {}

  // Null: it was not planned, or long ago.
  Plan* find(const PassShape& pass);
  // Keeps it, and lets go of those that were not used for the longest time where there are too many; `forget` is told
  // of each before. The one that comes stays, whatever it takes.
  Plan* add(PassShape pass, std::unique_ptr<Plan> plan, const std::function<void(const Plan&)>& forget);

  void clear();

  Result<void> for_each(const std::function<Result<void>(Plan&)>& act);
  std::size_t size() const { return plans_.size(); }
  std::size_t steps() const { return steps_; }

 private:
  struct CachedPlan {
    PassShape pass;
    std::unique_ptr<Plan> plan;
  };
  PlanBounds bounds_;
  std::list<CachedPlan> plans_;  // the last used first
  std::size_t steps_ = 0;
};

}  // namespace ingot
