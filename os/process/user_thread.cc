#include "os/process/user_thread.h"

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/process/robust_list.h"
#include "os/syscall/dispatch.h"

namespace ingot::os {

UserThread::UserThread(Process& process, std::uint32_t number, Rooms rooms, const arch::TrapFrame& frame,
                       UserAddress thread_storage)
    : process_(process),
      number_(number),
      rooms_(std::move(rooms)),
      state_{rooms_.stack.top(), thread_storage, {}},
      first_frame_(frame),
      thread_("program") {
  thread_.user_thread = this;
  thread_.vector_state = &rooms_.vectors;
  thread_.address_space = &process.space();
  if (LockViolationHandler* handler = process.kernel().scheduler.lock_checks()) {
    thread_.lock_checker = &lock_checker_.emplace(*handler);
  }
  thread_.saved_context = arch::prepare_stack(rooms_.stack.top(), &enter, this);
}

void UserThread::enter(void* argument) {
  auto& self = *static_cast<UserThread*>(argument);
  current_scheduler().begin_thread();
  {
    const InterruptsOff quiet;
    self.begin_run();
    self.rooms_.vectors.restore();
  }
  arch::TrapFrame frame = self.first_frame_;
  arch::disable_interrupts();
  before_program(frame);
  arch::enter_user(frame);
}

void UserThread::wait(std::optional<Nanoseconds> deadline) {
  WaitQueue nobody;
  const auto interrupted = [this] { return is_interrupted(); };
  if (deadline) {
    nobody.wait_until(interrupted, *deadline);
  } else {
    nobody.wait_until(interrupted);
  }
}

bool UserThread::may_go_on(EndsFor ends) {
  share_cpu(process_.kernel());
  return !is_interrupted() || (ends == EndsFor::the_end && !process_.is_to_end(*this));
}

Nanoseconds UserThread::processor_time() { return process_.kernel().clock->rate().nanoseconds(cycles()); }

void UserThread::exit() {
  arch::enable_interrupts();
  if (!process_.is_ending()) {
    release_robust_locks(process_, robust_list, number_);
    process_.locks().thread_ends(*this);
    // A program that unmapped it does not wait for it.
    if (!clear_at_exit.is_null() && clear_at_exit.write(0).ok()) process_.futexes().wake(clear_at_exit, 1);
  }
  process_.thread_ends(*this);
}

}  // namespace ingot::os
