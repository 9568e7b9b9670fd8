#include "engine/plan_cache.h"

#include <gtest/gtest.h>

#include "kernels/all_operations.h"
#include "machine/machine.h"

namespace ingot {
namespace {

class PlanCacheTest : public testing::Test {
 protected:
  // Of as many steps.
  std::unique_ptr<Plan> plan_of(std::size_t steps) {
    const Weights none;
    CircuitBuilder builder(none, {.runs = {1}, .outputs = 1});
    Operand x = builder.input("x", DType::f32, {4});
    for (std::size_t step = 0; step < steps; ++step) {
      const std::string name = "y" + std::to_string(step);
      const Operand y = builder.activation(name, {4});
      builder.call("activation.silu", name, {{"x", x}, {"y", y}});
      x = y;
    }
    return std::make_unique<Plan>(Plan::create(builder.finish().value(), table_, 1).value());
  }
  static PassShape shape_of(std::int64_t tokens) { return {.runs = {tokens}, .outputs = 1}; }
  Plan* add(PlanCache& cache, std::int64_t tokens, std::size_t steps) {
    return cache.add(shape_of(tokens), plan_of(steps), [this](const Plan& plan) { forgotten_.push_back(&plan); });
  }

  KernelTable table_ = KernelTable::select(all_operations(), Machine::detect().features, {}).value();
  std::vector<const Plan*> forgotten_;
};

TEST_F(PlanCacheTest, KeepsAsManyPlansAsItMayAndThoseThatWereUsedLast) {
  PlanCache cache({.plans = 2, .steps = 100});
  const Plan* const first = add(cache, 1, 1);
  const Plan* const second = add(cache, 2, 1);
  EXPECT_EQ(cache.find(shape_of(1)), first);
  add(cache, 3, 1);
  EXPECT_EQ(forgotten_, std::vector<const Plan*>{second});
  EXPECT_EQ(cache.find(shape_of(2)), nullptr);
  EXPECT_EQ(cache.find(shape_of(1)), first);
  EXPECT_EQ(cache.size(), 2U);
}

TEST_F(PlanCacheTest, KeepsNoMoreStepsThanItMayOfAllPlans) {
  PlanCache cache({.plans = 100, .steps = 10});
  add(cache, 1, 4);
  add(cache, 2, 4);
  EXPECT_EQ(cache.steps(), 8U);
  add(cache, 3, 5);  // 4 + 5 are left
  EXPECT_EQ(forgotten_.size(), 1U);
  EXPECT_EQ(cache.steps(), 9U);
  add(cache, 4, 7);
  EXPECT_EQ(cache.steps(), 7U);
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(PlanCacheTest, TheOneThatIsNeededStaysWhateverItTakes) {
  PlanCache cache({.plans = 100, .steps = 3});
  add(cache, 1, 2);
  const Plan* const large = add(cache, 2, 9);
  EXPECT_EQ(cache.find(shape_of(2)), large);
  EXPECT_EQ(cache.size(), 1U);
}

}  // namespace
}  // namespace ingot
