// A probe is told of every thread switch, fault and allocation while it is attached, and of none after.
//
// boot-test: success
// boot-test: expect switches: 20 while attached, none after
// boot-test: expect heap: 3 taken, 3 given back
// boot-test: expect frames: 5 taken
// boot-test: expect page faults: 1, read of 0xffffc00000001238
#include "os/boot/kernel.h"
#include "os/trace/panic.h"
#include "os/trace/tracepoint.h"

extern "C" const char after_read[];

namespace ingot::os {

namespace {

struct Count {
  int calls = 0;
  std::uint64_t last = 0;
};
void count_switch(void* context, const Thread&, const Thread& to) {
  Count& count = *static_cast<Count*>(context);
  ++count.calls;
  count.last = reinterpret_cast<std::uint64_t>(&to);
}
void count_heap(void* context, const void*, std::size_t) { ++static_cast<Count*>(context)->calls; }
void count_frame(void* context, FrameNumber, unsigned) { ++static_cast<Count*>(context)->calls; }
void count_fault(void* context, VirtualAddress address, std::uint64_t) {
  ++static_cast<Count*>(context)->calls;
  static_cast<Count*>(context)->last = address.value();
}

template <class Point, class Function>
class Listener {
 public:
  Listener(Point& point, Function* function) : point_(point), probe_{function, &count} {
    if (!point_.attach(probe_)) panic("expected a free tracepoint, found one in use");
  }
  ~Listener() { point_.detach(); }
  Count count;

 private:
  Point& point_;
  typename Point::Listener probe_;
};

void trace_switches(Kernel& kernel) {
  bool stop = false;
  Result<KernelThread> other = spawn(
      kernel, "other",
      [](bool& stops) {
        while (!stops) current_scheduler().yield();
      },
      stop);
  if (!other.ok()) panic(other.error());
  Count before;
  {
    Listener listener(kernel.tracepoints.thread_switch, count_switch);
    for (int i = 0; i < 10; ++i) current_scheduler().yield();
    if (listener.count.last != reinterpret_cast<std::uint64_t>(&current_thread())) panic("expected a switch to us");
    before = listener.count;
  }
  current_scheduler().yield();
  stop = true;
  other.value().join();
  kernel.log.information("switches: ", before.calls, " while attached, none after");
}

void trace_memory(Kernel& kernel) {
  Listener taken(kernel.tracepoints.heap_allocated, count_heap), freed(kernel.tracepoints.heap_freed, count_heap);
  for (std::size_t bytes : {16, 100, 700}) {
    const Result<void*> block = kernel.memory->heap().allocate(bytes);
    if (block.ok()) kernel.memory->heap().free(block.value(), bytes);
  }
  kernel.log.information("heap: ", taken.count.calls, " taken, ", freed.count.calls, " given back");
}

void trace_frames(Kernel& kernel) {
  Listener taken(kernel.tracepoints.frame_allocated, count_frame);
  for (int i = 0; i < 5; ++i) {
    const Result<FrameNumber> frame = kernel.memory->frames().allocate(page_order);
    if (frame.ok()) kernel.memory->frames().release(frame.value(), page_order);
  }
  kernel.log.information("frames: ", taken.count.calls, " taken");
}

void trace_faults(Kernel& kernel) {
  const auto skip = [](void*, arch::TrapFrame& frame) { frame.rip = reinterpret_cast<std::uint64_t>(after_read); };
  const Result<void> claimed = kernel.interrupts.claim(arch::exception::page_fault, {skip, nullptr});
  if (!claimed.ok()) panic(claimed.error());
  Listener listener(kernel.tracepoints.page_fault, count_fault);
  // Assembly: no C++ statement has an address to go on at.
  asm volatile(
      "movabsq $0xffffc00000001238, %%rax\n\t"
      "movq (%%rax), %%rax\n"
      "after_read: nop"
      :
      :
      : "rax", "memory");
  kernel.log.information("page faults: ", listener.count.calls, ", read of ", VirtualAddress(listener.count.last));
  kernel.interrupts.release(arch::exception::page_fault);
}

}  // namespace

void run_payload(Kernel& kernel) {
  trace_switches(kernel);
  trace_memory(kernel);
  trace_frames(kernel);
  trace_faults(kernel);
}

}  // namespace ingot::os
