// ProcessorCalls: one CPU has others run a function, now, and waits until they did. What one CPU must forget about page
// tables, all must.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "os/interrupt/interrupt_controller.h"
#include "os/memory/tlb_flush.h"

namespace ingot::os {

class ProcessorCalls final : public TlbFlusher {
 public:
  // Runs with interrupts off, on a CPU that may hold any lock: it takes none, and is short.
  using Function = void (*)(const void* argument);

  // From now on a CPU that runs can be called.
  void start(InterruptController& controller) { controller_ = &controller; }
  // Each CPU says so itself, as the last of its start.
  void set_running(std::uint32_t cpu) { running_.fetch_or(bit_of(cpu), MemoryOrder::release); }
  // A bit for each.
  std::uint64_t running() const { return running_.load(MemoryOrder::acquire); }

  // On those of the CPUs (a bit each) that run, but the caller's own. Not for interrupt handlers.
  void call(std::uint64_t cpus, Function function, const void* argument);
  void flush(const TlbFlush& flush) override;

  // What a called CPU does: in the interrupt, and while it waits to call others itself.
  void answer();

 private:
  static std::uint64_t bit_of(std::uint32_t cpu) { return std::uint64_t{1} << cpu; }

  InterruptController* controller_ = nullptr;
  Atomic<std::uint64_t> running_;
  Atomic<bool> busy_;              // one caller at a time
  Atomic<std::uint64_t> awaited_;  // who has not answered yet
  Function function_ = nullptr;
  const void* argument_ = nullptr;
};

}  // namespace ingot::os
