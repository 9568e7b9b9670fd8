#include "os/interrupt/processor_calls.h"

#include <bit>

#include "os/interrupt/vectors.h"

namespace ingot::os {

// With interrupts off, so that no handler calls while its CPU does. Two CPUs that call each other so cannot wait for
// each other forever: who waits for its turn answers meanwhile.
void ProcessorCalls::call(std::uint64_t cpus, Function function, const void* argument) {
  const InterruptsOff quiet;
  const std::uint64_t called = cpus & running() & ~bit_of(arch::current_cpu().index);
  if (called == 0) return;
  while (busy_.load(MemoryOrder::relaxed) || busy_.exchange(true, MemoryOrder::acquire)) {
    answer();
    arch::pause();
  }
  function_ = function;
  argument_ = argument;
  awaited_.store(called, MemoryOrder::release);
  for (std::uint64_t left = called; left != 0; left &= left - 1) {
    controller_->send(static_cast<std::uint32_t>(std::countr_zero(left)), vectors::call);
  }
  while (awaited_.load(MemoryOrder::acquire) != 0) arch::pause();
  busy_.store(false, MemoryOrder::release);
}

void ProcessorCalls::answer() {
  const std::uint64_t self = bit_of(arch::current_cpu().index);
  if ((awaited_.load(MemoryOrder::acquire) & self) == 0) return;  // answered already, while it waited
  function_(argument_);
  awaited_.fetch_and(~self, MemoryOrder::release);
}

void ProcessorCalls::flush(const TlbFlush& flush) {
  call(~std::uint64_t{0}, [](const void* stale) { flush_this_cpu(*static_cast<const TlbFlush*>(stale)); }, &flush);
}

}  // namespace ingot::os
