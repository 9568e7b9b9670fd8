// Explorer: runs one scenario in every order in which its CPUs could take their steps, up to a number of preemptions.
//
// A step is what a CPU does between two atomic accesses: nothing else is visible to the others (plain data is reached
// under a lock, which is an atomic). A preemption is a change to another CPU where the one before could have gone on;
// changes where it could not (it halts, or spins on what another holds) are free and all tried. Memory is sequentially
// consistent here: that the orders named in the code suffice on weaker hardware is not shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "os/schedule/interleavings/simulation.h"

namespace ingot::os::interleavings {

// One run of it. Built anew for every order, so nothing may depend on the runs before.
class Scenario {
 public:
  virtual ~Scenario() = default;
  // Starts threads on the simulation.
  virtual void begin(Simulation& simulation) = 0;
  // When no CPU can take a step and all threads have finished.
  virtual void end(Simulation&) {}
};

struct Limits {
  std::uint32_t cpus = 2;
  std::uint32_t preemptions = 2;
  std::uint64_t runs = 2'000'000;
};

struct Exploration {
  std::uint64_t runs = 0;
  std::uint64_t steps = 0;
  bool complete = false;  // every order within the limits was run
  std::string failure;    // of the first run that failed; empty: none did
};

Exploration explore(const Limits& limits, const std::function<std::unique_ptr<Scenario>()>& make_scenario);
// Some orders, as many as the limit of runs says, with more preemptions than all orders could be run with.
Exploration explore_at_random(const Limits& limits, const std::function<std::unique_ptr<Scenario>()>& make_scenario);

}  // namespace ingot::os::interleavings
