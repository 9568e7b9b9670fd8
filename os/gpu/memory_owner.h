// MemoryOwner: the kernel's end of the ring on which a machine says what memory its accelerator's worker sees.
//
// One question at a time, answered before the next. Whatever the worker does, a question ends: a worker that is silent
// for two seconds is lost, and one that beats and does not answer is after a minute. (It answers between two packets of
// the program's, of which one may be a list that computes for long.)
#pragma once

#include <array>
#include <cstdint>

#include "base/accelerator/rings.h"
#include "base/result.h"
#include "os/gpu/accelerator_machine.h"
#include "os/gpu/worker_watch.h"

namespace ingot::os {

class MemoryOwner {
 public:
  static constexpr Nanoseconds longest_wait{60'000'000'000};

  MemoryOwner(accelerator::SharedWords shared, AcceleratorMachine& machine);

  // The answer's value. An error with input_output: the worker is lost; any other is its refusal.
  Result<std::uint64_t> ask(accelerator::MemoryCode code, const std::array<std::uint64_t, 4>& operands,
                            std::uint32_t flags = 0);

  // Whether nobody writes to what was shown: the worker does as it is told, or is gone. One that was lost a moment ago
  // is waited for, once.
  bool is_quiet();

  WorkerWatch& watch() { return watch_; }

 private:
  Result<void> give(accelerator::MemoryCode code, const std::array<std::uint64_t, 4>& operands, std::uint32_t flags);
  // Whether the answer to the last question is there.
  Result<bool> is_answered();
  Result<std::uint64_t> take();
  Error lost();

  AcceleratorMachine& machine_;
  accelerator::MemoryWriter packets_;
  accelerator::MemoryAnswerReader answers_;
  WorkerWatch watch_;
  std::uint64_t last_tag_ = 0;
  bool was_waited_for_ = false;
};

}  // namespace ingot::os
