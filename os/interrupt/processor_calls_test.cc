#include "os/interrupt/processor_calls.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "os/interrupt/vectors.h"

namespace ingot::os {
namespace {

// CPUs are threads of the host; an interrupt is a flag that a CPU looks at when it can be interrupted.
class FakeController final : public InterruptController {
 public:
  static constexpr std::uint32_t cpu_count = 4;
  Atomic<std::uint32_t> pending[cpu_count];

  void send(std::uint32_t cpu, std::uint8_t vector) override {
    EXPECT_EQ(vector, vectors::call);
    pending[cpu].fetch_add(1, MemoryOrder::acquire_release);
  }
  std::string_view name() const override { return "threads"; }
  InterruptLine isa_line(std::uint8_t number) const override { return {number}; }
  std::optional<std::uint8_t> fixed_vector(const InterruptLine&) const override { return std::nullopt; }
  Result<void> route(const InterruptLine&, std::uint8_t, std::uint32_t) override { return {}; }
  void mask(std::uint32_t) override {}
  void unmask(std::uint32_t) override {}
  Result<InterruptMessage> message(std::uint8_t, std::uint32_t) const override { return InterruptMessage{}; }
  void stop_others() override {}
  bool is_spurious(std::uint64_t) override { return false; }
  void end_of_interrupt(std::uint64_t) override {}
};

struct Machine {
  FakeController controller;
  ProcessorCalls calls;
  Atomic<std::uint32_t> calling{FakeController::cpu_count};
  Atomic<std::uint64_t> answers[FakeController::cpu_count];
};

void answer_on_this_cpu(const void* machine) {
  auto& answers = static_cast<Machine*>(const_cast<void*>(machine))->answers;
  answers[arch::current_cpu().index].fetch_add(1, MemoryOrder::relaxed);
}

// Each calls all others, as all others do; then it lets itself be interrupted until everybody is done.
void run_cpu(Machine& machine, std::uint32_t index, int times) {
  arch::ProcessorHeader header;
  header.index = index;
  arch::set_current_cpu(header);
  machine.calls.set_running(index);
  while (machine.calls.running() != (1u << FakeController::cpu_count) - 1) std::this_thread::yield();
  for (int time = 0; time < times; ++time) machine.calls.call(~std::uint64_t{0}, answer_on_this_cpu, &machine);
  machine.calling.fetch_subtract(1, MemoryOrder::acquire_release);
  while (machine.calling.load(MemoryOrder::acquire) != 0) {
    if (machine.controller.pending[index].exchange(0, MemoryOrder::acquire_release) != 0) machine.calls.answer();
    std::this_thread::yield();
  }
}

TEST(ProcessorCalls, CpusThatCallEachOtherAllAnswerAndNoneWaitsForever) {
  constexpr int times = 200;
  auto machine = std::make_unique<Machine>();
  machine->calls.start(machine->controller);
  arch::hosted::thread.on_pause = nullptr;
  std::vector<std::thread> cpus;
  for (std::uint32_t index = 0; index < FakeController::cpu_count; ++index) {
    cpus.emplace_back([&machine, index] {
      arch::hosted::thread.on_pause = [] { std::this_thread::yield(); };
      run_cpu(*machine, index, times);
    });
  }
  for (std::thread& cpu : cpus) cpu.join();
  for (const Atomic<std::uint64_t>& answers : machine->answers) {
    EXPECT_EQ(answers.load(MemoryOrder::relaxed), (FakeController::cpu_count - 1) * std::uint64_t{times});
  }
}

TEST(ProcessorCalls, OnlyThoseThatRunAreCalledAndNotTheCaller) {
  Machine machine;
  machine.calls.start(machine.controller);
  machine.calls.set_running(0);
  machine.calls.call(~std::uint64_t{0}, answer_on_this_cpu, &machine);  // would wait forever for another
  machine.calls.answer();                                               // an interrupt that comes too late
  EXPECT_EQ(machine.answers[0].load(MemoryOrder::relaxed), 0u);
}

}  // namespace
}  // namespace ingot::os
