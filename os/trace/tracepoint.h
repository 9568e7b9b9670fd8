// Tracepoint<Arguments...>: a place in the kernel where whoever wants can be told what happens, with typed arguments.
// Nobody listens: a load and a branch. No code is patched.
//
//   Probe<const Thread&, const Thread&> probe{&on_switch, &counts};
//   if (kernel.tracepoints.thread_switch.attach(probe)) { ...; kernel.tracepoints.thread_switch.detach(); }
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/atomic.h"
#include "os/arch/arch.h"
#include "os/memory/address.h"

namespace ingot::os {

class Thread;

// Called on the CPU where it happens, perhaps with locks held and interrupts off: it counts or writes down, no more.
template <class... Arguments>
struct Probe {
  void (*function)(void* context, Arguments... arguments) = nullptr;
  void* context = nullptr;
};

template <class... Arguments>
class Tracepoint {
 public:
  using Listener = Probe<Arguments...>;

  // One at a time: false where there is one. The probe outlives detach().
  bool attach(const Listener& probe) {
    const Listener* nobody = nullptr;
    return probe_.compare_exchange(nobody, &probe, MemoryOrder::acquire_release);
  }
  // Returns when no CPU is in the probe any more. Not for a probe itself.
  void detach() {
    probe_.store(nullptr, MemoryOrder::sequentially_consistent);
    while (inside_.load(MemoryOrder::sequentially_consistent) != 0) arch::pause();
  }

  void operator()(Arguments... arguments) {
    if (probe_.load(MemoryOrder::relaxed) != nullptr) tell(arguments...);
  }

 private:
  // Counted before it looks again: detach() either is seen here or waits.
  [[gnu::noinline]] void tell(Arguments... arguments) {
    inside_.fetch_add(1, MemoryOrder::sequentially_consistent);
    const Listener* probe = probe_.load(MemoryOrder::sequentially_consistent);
    if (probe != nullptr) probe->function(probe->context, arguments...);
    inside_.fetch_subtract(1, MemoryOrder::release);
  }

  Atomic<const Listener*> probe_;
  Atomic<std::uint32_t> inside_;
};

// All there are. The kernel has one object, and each CPU points at it.
struct Tracepoints {
  Tracepoint<const Thread&, const Thread&> thread_switch;  // from, to
  Tracepoint<VirtualAddress, std::uint64_t> page_fault;    // the address, the CPU's error code
  Tracepoint<FrameNumber, unsigned> frame_allocated;       // the order
  Tracepoint<const void*, std::size_t> heap_allocated, heap_freed;
};

// trace(cpu, &Tracepoints::thread_switch, from, to), where `cpu` is this CPU's.
template <class... Arguments>
void trace(const arch::ProcessorHeader& cpu, Tracepoint<Arguments...> Tracepoints::* which,
           std::type_identity_t<Arguments>... arguments) {
  if (cpu.tracepoints != nullptr) (cpu.tracepoints->*which)(arguments...);
}

}  // namespace ingot::os
