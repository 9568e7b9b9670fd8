// Simulation: CPUs that take turns within one process, under the control of a Chooser, and run the kernel's real
// scheduler. Each kernel thread has a stack of its own, and so has each CPU's idle thread.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/schedule/scheduler.h"

namespace ingot::os::interleavings {

class Chooser {
 public:
  // Which of `ways` CPUs takes the next step; 0 is the one that took the last, if it can. Only then the others preempt.
  virtual std::uint32_t choose(std::uint32_t ways, bool others_preempt) = 0;

 protected:
  ~Chooser() = default;
};

// Stacks outlive a run, because making one costs more than a run does.
class StackPool {
 public:
  static constexpr std::size_t stack_bytes = 64 << 10;

  char* take();
  void give_all_back() { used_ = 0; }

 private:
  std::vector<std::unique_ptr<char[]>> stacks_;
  std::size_t used_ = 0;
};

class Simulation final : public ScheduleMachine {
 public:
  Simulation(std::uint32_t cpus, Chooser& chooser, StackPool& stacks);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Runs `begin` on CPU 0, then all CPUs until none can take a step.
  void run(const std::function<void()>& begin);

  // A thread of the kernel, started on the current CPU.
  Thread& start_thread(std::string_view name, std::function<void()> body, std::uint64_t cpus = Thread::every_cpu);
  // A thread of a program that is in ring 3 until `over()` holds. It looks at no queue by itself: only when its CPU was
  // interrupted it gives way, as before_program does; there are no time slices here.
  Thread& start_program(std::string_view name, std::function<bool()> over, std::uint64_t cpus = Thread::every_cpu);
  // For a program: a device interrupts it here.
  void interrupt_program(const std::function<void()>& handler);
  Scheduler& scheduler() { return scheduler_; }
  Processor& processor(std::uint32_t cpu) { return *cpus_[cpu]->processor; }

  // Ends the run as failed; the first text is kept.
  void fail(std::string_view text);
  void expect(bool holds, std::string_view text) {
    if (!holds) fail(text);
  }
  const std::string& failure() const { return failure_; }
  std::uint64_t steps() const { return steps_; }

  // What the hooks in Atomic and pause call.
  void before_access(AtomicAccess access);
  void on_pause();

 private:
  enum class CpuState { can_step, spins, halts };
  struct Fiber {
    ucontext_t context{};
    std::function<void()> body;
    std::unique_ptr<Thread> thread;
    bool runs = false;  // on some CPU: two at once would be the end of its stack
  };
  struct Cpu {
    std::unique_ptr<Processor> processor;
    Fiber* fiber = nullptr;  // what it runs
    CpuState state = CpuState::can_step;
    bool notified = false;
    bool in_program = false;   // a notification ends its spinning
    bool interrupted = false;  // since its program last gave way
    bool writes = false;       // its next step begins with a write
    bool paused = false;       // since its last access
    std::uint64_t own_writes = 0;
    std::uint64_t others_writes_at_pause = 0;
    bool interrupts_enabled = true;
  };

  void switch_context(Thread& from, Thread& to) override;
  void notify(std::uint32_t cpu) override;
  void wait_for_interrupt() override;

  Fiber& make_thread(std::string_view name, std::function<void()> body);
  void stay_in_program(const std::function<bool()>& over);
  Fiber& make_fiber(std::function<void()> body);
  void prepare(Fiber& fiber);
  static void enter_fiber(unsigned high, unsigned low);
  void finish_step();
  void take_turns();
  bool can_step(const Cpu& cpu) const;
  void become(std::uint32_t cpu);
  [[noreturn]] void leave();
  void judge_end();

  Chooser& chooser_;
  StackPool& stacks_;
  std::vector<std::unique_ptr<Cpu>> cpus_;
  Scheduler scheduler_{*this};
  std::vector<std::unique_ptr<Fiber>> fibers_;
  ucontext_t outside_{};
  std::uint32_t current_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t writes_ = 0;
  std::string failure_;
};

}  // namespace ingot::os::interleavings
