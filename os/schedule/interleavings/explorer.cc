#include "os/schedule/interleavings/explorer.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "base/random.h"

namespace ingot::os::interleavings {
namespace {

// One place where a run could have gone on in several ways.
struct Decision {
  std::uint32_t ways = 0;  // 0 is the way without a preemption
  std::uint32_t chosen = 0;
  std::uint32_t preemptions_before = 0;
  bool others_preempt = false;  // whether ways other than 0 count as one
};

// Depth first over all decisions: a run repeats the decisions on record and takes way 0 wherever it is new.
class Search : public Chooser {
 public:
  explicit Search(std::uint32_t most_preemptions) : most_preemptions_(most_preemptions) {}

  std::uint32_t choose(std::uint32_t ways, bool others_preempt) override {
    if (others_preempt && preemptions_ == most_preemptions_) return 0;
    if (depth_ == decisions_.size()) decisions_.push_back({ways, 0, preemptions_, others_preempt});
    const Decision& decision = decisions_[depth_++];
    if (decision.ways != ways) std::abort();  // the scenario depends on more than its schedule
    if (others_preempt && decision.chosen != 0) ++preemptions_;
    return decision.chosen;
  }

  // To the next order; false when all were run.
  bool advance() {
    depth_ = 0;
    preemptions_ = 0;
    while (!decisions_.empty()) {
      Decision& last = decisions_.back();
      if (++last.chosen < last.ways) return true;
      decisions_.pop_back();
    }
    return false;
  }

 private:
  std::uint32_t most_preemptions_;
  std::uint32_t preemptions_ = 0;
  std::size_t depth_ = 0;
  std::vector<Decision> decisions_;
};

// Orders with any number of preemptions, a different one for each run.
class RandomWalk : public Chooser {
 public:
  std::uint32_t choose(std::uint32_t ways, bool others_preempt) override {
    if (others_preempt && numbers_.below(steps_between_preemptions_) != 0) return 0;
    return static_cast<std::uint32_t>(numbers_.below(ways));
  }
  bool advance() {
    numbers_ = RandomNumbers(++run_);
    steps_between_preemptions_ = 2 + run_ % 7;
    return true;
  }

 private:
  std::uint64_t run_ = 0, steps_between_preemptions_ = 2;
  RandomNumbers numbers_{0};
};

// A run that failed has threads in the middle of what they did, linked into lists on each other's stacks: nothing of it
// can be taken apart. It stays as it is, reachable, so that it does not count as lost.
void abandon(std::unique_ptr<Scenario> scenario, std::unique_ptr<Simulation> simulation,
             std::unique_ptr<StackPool> stacks) {
  static std::vector<std::array<void*, 3>> abandoned;
  abandoned.push_back({scenario.release(), simulation.release(), stacks.release()});
}

template <class Orders>
Exploration explore_orders(const Limits& limits, Orders& search,
                           const std::function<std::unique_ptr<Scenario>()>& make_scenario) {
  Exploration exploration;
  auto stacks = std::make_unique<StackPool>();
  do {
    if (exploration.runs == limits.runs) return exploration;
    ++exploration.runs;
    std::unique_ptr<Scenario> scenario = make_scenario();
    auto simulation = std::make_unique<Simulation>(limits.cpus, search, *stacks);
    simulation->run([&] { scenario->begin(*simulation); });
    exploration.steps += simulation->steps();
    if (simulation->failure().empty()) scenario->end(*simulation);
    if (!simulation->failure().empty()) {
      exploration.failure = simulation->failure();
      abandon(std::move(scenario), std::move(simulation), std::move(stacks));
      return exploration;
    }
  } while (search.advance());
  exploration.complete = true;
  return exploration;
}

}  // namespace

Exploration explore(const Limits& limits, const std::function<std::unique_ptr<Scenario>()>& make_scenario) {
  Search search(limits.preemptions);
  return explore_orders(limits, search, make_scenario);
}

Exploration explore_at_random(const Limits& limits, const std::function<std::unique_ptr<Scenario>()>& make_scenario) {
  RandomWalk walk;
  return explore_orders(limits, walk, make_scenario);
}

}  // namespace ingot::os::interleavings
