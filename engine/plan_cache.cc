#include "engine/plan_cache.h"

#include <algorithm>

namespace ingot {

Plan* PlanCache::find(const PassShape& pass) {
  const auto found = std::ranges::find(plans_, pass, &CachedPlan::pass);
  if (found == plans_.end()) return nullptr;
  plans_.splice(plans_.begin(), plans_, found);
  return found->plan.get();
}

Plan* PlanCache::add(PassShape pass, std::unique_ptr<Plan> plan, const std::function<void(const Plan&)>& forget) {
  steps_ += plan->circuit().steps.size();
  plans_.push_front({std::move(pass), std::move(plan)});
  while (plans_.size() > 1 && (plans_.size() > bounds_.plans || steps_ > bounds_.steps)) {
    const Plan& last = *plans_.back().plan;
    forget(last);
    steps_ -= last.circuit().steps.size();
    plans_.pop_back();
  }
  return plans_.front().plan.get();
}

void PlanCache::clear() {
  plans_.clear();
  steps_ = 0;
}

Result<void> PlanCache::for_each(const std::function<Result<void>(Plan&)>& act) {
  for (const CachedPlan& cached : plans_) TRY(act(*cached.plan));
  return {};
}

}  // namespace ingot
