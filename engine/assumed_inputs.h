// AssumedInputs: what a pass would be told, on the host. Costs of attention depend on how much each token sees; with
// these they can be told of a pass that has not run yet, and of one whose inputs lie on a device, where the host reads
// nothing.
#pragma once

#include <map>
#include <vector>

#include "model/circuit/builder.h"
#include "model/plan/plan.h"

namespace ingot {

class AssumedInputs {
 public:
  // Of a pass whose runs each continue a sequence that holds `depth` tokens. Preconditions: the plan is one for that
  // shape, is bound, and outlives this.
  AssumedInputs(const Plan& plan, const PassShape& shape, std::int64_t depth);

  const Plan& plan() const { return plan_; }
  Cost cost(std::size_t step) const;

 private:
  // An input's numbers; empty where the plan has none of that name.
  std::span<std::int32_t> numbers(std::string_view name);

  const Plan& plan_;
  std::map<std::string_view, std::vector<std::int32_t>> inputs_;
};

}  // namespace ingot
