// PassRecordings: passes of a device that come again. The first one of a kind is given to the queue step by step; the
// second is written down, and from then on the whole of it is given at once.
#pragma once

#include <functional>
#include <list>

#include "engine/device_choice.h"
#include "model/plan/plan.h"

namespace ingot {

// All that the works of a pass depend on, but for what its inputs hold.
struct PassKind {
  const Plan* plan = nullptr;
  std::vector<int> sequences = {};        // whose states it goes on with, if they have any
  std::vector<ChoiceGroup> choices = {};  // by which tokens are chosen from its outputs; none: they are not
  bool continues = false;                 // whether its tokens are those that the last pass chose
  bool operator==(const PassKind&) const = default;
};

class PassRecordings {
 public:
  // The queue must outlive it.
  explicit PassRecordings(Queue& queue) : queue_(&queue) {}

  // `give` puts the works into the queue: the same ones for passes of the same kind.
  Result<void> run(PassKind kind, const std::function<Result<void>()>& give);

  // Works of this plan, or of all, have moved.
  void forget(const Plan& plan);
  void forget() { passes_.clear(); }

  // That went into writing passes down.
  double seconds() const { return seconds_; }

 private:
  struct Pass {
    PassKind kind;
    std::unique_ptr<Recording> recording;
  };
  Queue* queue_;
  std::list<Pass> passes_;  // the last used first
  double seconds_ = 0;
};

}  // namespace ingot
