#include "os/trace/tracepoint.h"

#include <gtest/gtest.h>

#include <thread>

namespace ingot::os {
namespace {

struct Heard {
  int calls = 0;
  std::uint64_t address = 0, code = 0;
};
void hear(void* context, VirtualAddress address, std::uint64_t code) {
  auto& heard = *static_cast<Heard*>(context);
  ++heard.calls;
  heard.address = address.value();
  heard.code = code;
}

TEST(Tracepoint, TellsWhoIsAttachedAndNobodyElse) {
  Tracepoints tracepoints;
  arch::ProcessorHeader cpu;
  Heard heard, other;
  const Probe<VirtualAddress, std::uint64_t> probe{hear, &heard}, second{hear, &other};
  trace(cpu, &Tracepoints::page_fault, VirtualAddress(1), 2);  // a CPU that points at none
  cpu.tracepoints = &tracepoints;
  trace(cpu, &Tracepoints::page_fault, VirtualAddress(1), 2);
  ASSERT_TRUE(tracepoints.page_fault.attach(probe));
  EXPECT_FALSE(tracepoints.page_fault.attach(second)) << "one at a time";
  trace(cpu, &Tracepoints::page_fault, VirtualAddress(3), 4);
  EXPECT_EQ(heard.calls, 1);
  EXPECT_EQ(heard.address, 3u);
  EXPECT_EQ(heard.code, 4u);
  tracepoints.page_fault.detach();
  trace(cpu, &Tracepoints::page_fault, VirtualAddress(5), 6);
  EXPECT_EQ(heard.calls, 1);
  EXPECT_TRUE(tracepoints.page_fault.attach(second));
  tracepoints.page_fault.detach();
  EXPECT_EQ(other.calls, 0);
}

// The probe goes away right after detach(): a call that came too late would be found by the sanitizers, or by the mark.
TEST(Tracepoint, DetachWaitsForWhoIsInside) {
  struct Mark {
    Atomic<bool> alive{true};
    Atomic<int> calls;
  };
  Tracepoint<int> point;
  Atomic<bool> stop;
  Atomic<int> too_late;
  std::thread teller([&] {
    while (!stop.load(MemoryOrder::relaxed)) point(1);
  });
  for (int round = 0; round < 2000; ++round) {
    Mark mark;
    struct Context {
      Mark& mark;
      Atomic<int>& too_late;
    } context{mark, too_late};
    const Probe<int> probe{[](void* given, int) {
                             auto& it = *static_cast<Context*>(given);
                             if (!it.mark.alive.load(MemoryOrder::acquire))
                               it.too_late.fetch_add(1, MemoryOrder::relaxed);
                             it.mark.calls.fetch_add(1, MemoryOrder::relaxed);
                           },
                           &context};
    ASSERT_TRUE(point.attach(probe));
    if (round % 16 == 0) std::this_thread::yield();
    point.detach();
    mark.alive.store(false, MemoryOrder::release);
  }
  stop.store(true, MemoryOrder::relaxed);
  teller.join();
  EXPECT_EQ(too_late.load(MemoryOrder::relaxed), 0);
}

}  // namespace
}  // namespace ingot::os
