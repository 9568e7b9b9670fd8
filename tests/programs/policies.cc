// How threads ask to be scheduled, who the program says it is, and what it may not change: answers that say what Linux
// says to a superuser.
// program-test: expect all asked and told
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <thread>

#include "tests/programs/check.h"

namespace {

int priority_of(pid_t thread) {
  sched_param parameter{};
  CHECK(sched_getparam(thread, &parameter) == 0);
  return parameter.sched_priority;
}

void policies() {
  for (const int policy : {SCHED_FIFO, SCHED_RR}) {
    CHECK(sched_get_priority_min(policy) == 1 && sched_get_priority_max(policy) == 99);
    const sched_param high{42}, none{0}, too_high{100};
    CHECK(sched_setscheduler(0, policy, &high) == 0 && sched_getscheduler(0) == policy && priority_of(0) == 42);
    CHECK(sched_setscheduler(0, policy, &none) == -1 && errno == EINVAL);
    CHECK(sched_setparam(0, &too_high) == -1 && errno == EINVAL);
    const sched_param other{7};
    CHECK(sched_setparam(0, &other) == 0 && priority_of(gettid()) == 7);
    // Threads inherit it.
    std::thread([&] { CHECK(sched_getscheduler(0) == policy && priority_of(0) == 7); }).join();
    timespec slice{};
    CHECK(sched_rr_get_interval(0, &slice) == 0 && (slice.tv_nsec > 0) == (policy == SCHED_RR));
  }
  const sched_param none{0};
  CHECK(sched_setscheduler(0, SCHED_OTHER, &none) == 0 && sched_getscheduler(0) == SCHED_OTHER);
  CHECK(sched_setscheduler(0, 4711, &none) == -1 && errno == EINVAL);
  CHECK(sched_setscheduler(0, SCHED_OTHER, nullptr) == -1 && errno == EINVAL);
  CHECK(sched_getscheduler(4711) == -1 && errno == ESRCH && sched_getscheduler(-1) == -1 && errno == EINVAL);
  CHECK(sched_rr_get_interval(4711, nullptr) == -1 && errno == ESRCH);
  CHECK(setpriority(PRIO_PROCESS, 0, 100) == 0 && getpriority(PRIO_PROCESS, 0) == 19);
  CHECK(setpriority(PRIO_PROCESS, 0, 0) == 0 && getpriority(PRIO_PROCESS, 0) == 0);
  CHECK(setpriority(3, 0, 0) == -1 && errno == EINVAL && getpriority(PRIO_PROCESS, 4711) == -1 && errno == ESRCH);
}

// The C library raises who has such a lock, and needs to be told that it did.
void ceilings() {
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  CHECK(pthread_mutexattr_init(&attributes) == 0);
  CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT) == 0);
  CHECK(pthread_mutexattr_setprioceiling(&attributes, 50) == 0 && pthread_mutex_init(&mutex, &attributes) == 0);
  const sched_param low{3}, none{0};
  CHECK(sched_setscheduler(0, SCHED_FIFO, &low) == 0 && pthread_mutex_lock(&mutex) == 0 && priority_of(0) == 50);
  CHECK(pthread_mutex_unlock(&mutex) == 0 && priority_of(0) == 3 && sched_setscheduler(0, SCHED_OTHER, &none) == 0);
}

void children() {
  CHECK(waitpid(-1, nullptr, 0) == -1 && errno == ECHILD);
  CHECK(waitpid(INT_MIN, nullptr, 0) == -1 && errno == ESRCH);
  CHECK(waitpid(-1, nullptr, 0x4711) == -1 && errno == EINVAL);
  siginfo_t information{};
  CHECK(waitid(P_ALL, 0, &information, WEXITED) == -1 && errno == ECHILD);
  CHECK(waitid(P_ALL, 0, &information, 0) == -1 && errno == EINVAL);
}

void clocks() {
  const timespec wrong{0, 1'000'000'000}, right{1'000'000'000, 0};
  CHECK(clock_settime(CLOCK_MONOTONIC, &right) == -1 && errno == EINVAL);
  CHECK(clock_settime(CLOCK_REALTIME, &wrong) == -1 && errno == EINVAL);
  CHECK(clock_settime(4711, &right) == -1 && errno == EINVAL);
  // Raw: the library of a program that is linked statically looks at the pointer itself.
  CHECK(syscall(SYS_clock_settime, CLOCK_REALTIME, nullptr) == -1 && errno == EFAULT);
  if (getpid() != 1) return;  // on Linux the superuser may
  CHECK(clock_settime(CLOCK_REALTIME, &right) == -1 && errno == EPERM);
}

void users() {
  uid_t real = 1, effective = 1, saved = 1;
  if (getpid() != 1) return;
  CHECK(getuid() == 0 && getresuid(&real, &effective, &saved) == 0 && real == 0 && effective == 0 && saved == 0);
  CHECK(setuid(0) == 0 && setresuid(static_cast<uid_t>(-1), 0, static_cast<uid_t>(-1)) == 0);
  CHECK(setuid(1000) == -1 && errno == EPERM && syscall(SYS_setuid, -1) == -1 && errno == EINVAL);
}

}  // namespace

int main() {
  policies();
  ceilings();
  children();
  clocks();
  users();
  std::puts("all asked and told");
  return 0;
}
