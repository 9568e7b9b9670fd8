#include "os/process/user_thread.h"

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/dispatch.h"

namespace ingot::os {

UserThread::UserThread(Process& process, std::uint32_t number, KernelStack stack, arch::VectorState vectors,
                       const arch::TrapFrame& frame, std::uint64_t thread_storage)
    : process_(process),
      number_(number),
      stack_(std::move(stack)),
      vectors_(std::move(vectors)),
      state_{stack_.top(), thread_storage, 0},
      first_frame_(frame),
      thread_("program") {
  thread_.user_thread = this;
  thread_.vector_state = &vectors_;
  thread_.address_space = &process.space();
  if (LockViolationHandler* handler = process.kernel().scheduler.lock_checks()) {
    thread_.lock_checker = &lock_checker_.emplace(*handler);
  }
  thread_.saved_context = arch::prepare_stack(stack_.top(), &enter, this);
}

void UserThread::enter(void* argument) {
  auto& self = *static_cast<UserThread*>(argument);
  current_scheduler().begin_thread();
  {
    const InterruptsOff quiet;
    self.state_.load();
    self.vectors_.restore();
  }
  arch::TrapFrame frame = self.first_frame_;
  arch::disable_interrupts();
  before_program(frame);
  arch::enter_user(frame);
}

void UserThread::exit() {
  arch::enable_interrupts();
  static_cast<void>(clear_at_exit.write_if_wanted(0));  // a program that unmapped it does not wait for it
  process_.thread_ends(*this);
}

}  // namespace ingot::os
