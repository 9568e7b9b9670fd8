// A scenario as a plain object: what every run builds anew, and the bodies of its threads.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "os/schedule/interleavings/explorer.h"

namespace ingot::os::interleavings {

// `Shared` has begin(Simulation&) and end(Simulation&).
template <class Shared>
class ScenarioOf : public Scenario {
 public:
  void begin(Simulation& simulation) override { shared_.begin(simulation); }
  void end(Simulation& simulation) override { shared_.end(simulation); }

 private:
  Shared shared_;
};

// The address sanitizer looks at memory, not at orders, and makes every change of stacks dear: fewer orders will do.
inline Limits affordable(Limits limits) {
#if defined(INGOT_ADDRESS_SANITIZED)
  limits.preemptions = limits.preemptions < 1 ? limits.preemptions : 1;
#endif
  return limits;
}

template <class Shared>
Exploration explore_all(const Limits& limits) {
  const Exploration exploration = explore(limits, [] { return std::make_unique<ScenarioOf<Shared>>(); });
  ::testing::Test::RecordProperty("orders", std::to_string(exploration.runs));
  ::testing::Test::RecordProperty("steps", std::to_string(exploration.steps));
  return exploration;
}

template <class Shared>
void expect_holds_in_every_order(const Limits& limits) {
  const Exploration exploration = explore_all<Shared>(affordable(limits));
  EXPECT_EQ(exploration.failure, "");
  EXPECT_TRUE(exploration.complete) << "stopped after " << exploration.runs << " orders";
}

}  // namespace ingot::os::interleavings
