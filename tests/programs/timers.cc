// Timers that send signals, clocks of CPU time, and what a program has used.
// program-test: processors 2
// program-test: expect all timers behaved
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "tests/programs/check.h"

namespace {

constexpr std::int64_t millisecond = 1'000'000;
volatile sig_atomic_t seen = 0;
siginfo_t last{};

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  CHECK(clock_gettime(clock, &time) == 0);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}
std::int64_t now() { return read_clock(CLOCK_MONOTONIC); }
void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(signal, &action, nullptr) == 0);
}
void record(int, siginfo_t* information, void*) {
  last = *information;
  seen = seen + 1;
}
void wait_for(int count) {
  for (int i = 0; i < 3000 && seen < count; ++i) usleep(1000);
  CHECK(seen >= count);
}

void interval_timer() {
  handle(SIGALRM, record);
  seen = 0;
  std::int64_t begin = now();
  const itimerval once{{0, 0}, {0, 30'000}};
  itimerval left{};
  CHECK(setitimer(ITIMER_REAL, &once, nullptr) == 0);
  CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_value.tv_usec > 0 && left.it_value.tv_usec <= 30'000);
  CHECK(pause() == -1 && errno == EINTR && seen == 1 && now() - begin >= 30 * millisecond);
  CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0);
  const itimerval often{{0, 10'000}, {0, 10'000}}, off{};
  seen = 0;
  begin = now();
  CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  wait_for(5);
  CHECK(now() - begin >= 50 * millisecond);
  CHECK(setitimer(ITIMER_REAL, &off, &left) == 0 && left.it_interval.tv_usec == 10'000);
  // Ignored for a while, it goes on afterwards; some versions of Linux forget it.
  if (getpid() == 1) {
    CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
    signal(SIGALRM, SIG_IGN);
    usleep(35'000);
    handle(SIGALRM, record);
    seen = 0;
    wait_for(2);
  }
  CHECK(setitimer(ITIMER_REAL, &off, nullptr) == 0);
  // Far too often: the program goes on all the same.
  const itimerval mad{{0, 1}, {0, 1}};
  seen = 0;
  CHECK(setitimer(ITIMER_REAL, &mad, nullptr) == 0);
  wait_for(20);
  CHECK(setitimer(ITIMER_REAL, &off, nullptr) == 0);
  // Nearly never again, and long ago: others that sleep still wake.
  const itimerval seldom{{INT64_MAX, 0}, {0, 1000}};
  seen = 0;
  CHECK(setitimer(ITIMER_REAL, &seldom, nullptr) == 0);
  wait_for(1);
  CHECK(setitimer(ITIMER_REAL, &off, nullptr) == 0);
  const timespec long_ago{0, 5};
  CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &long_ago, nullptr) == 0);
  usleep(1000);
  CHECK(alarm(100) == 0 && alarm(1) == 100);
  seen = 0;
  begin = now();
  while (seen == 0) pause();
  CHECK(now() - begin >= 999 * millisecond && alarm(0) == 0);
}

void created_timers() {
  handle(SIGRTMIN, record);
  timer_t timer{}, silent{};
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN;
  event.sigev_value.sival_int = 4711;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const itimerspec often{{0, 5 * millisecond}, {0, 5 * millisecond}};
  itimerspec left{};
  seen = 0;
  CHECK(timer_settime(timer, 0, &often, nullptr) == 0);
  wait_for(3);
  CHECK(last.si_code == SI_TIMER && last.si_value.sival_int == 4711);
  CHECK(timer_gettime(timer, &left) == 0 && left.it_interval.tv_nsec == 5 * millisecond);
  // Blocked for a while, it comes once and tells how often it would have.
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGRTMIN);
  CHECK(sigprocmask(SIG_BLOCK, &blocked, nullptr) == 0);
  usleep(60'000);
  siginfo_t information{};
  CHECK(sigwaitinfo(&blocked, &information) == SIGRTMIN && information.si_overrun >= 5);
  CHECK(timer_getoverrun(timer) == information.si_overrun);
  CHECK(timer_delete(timer) == 0 && timer_delete(timer) == -1 && errno == EINVAL);
  const timespec nothing{};
  while (sigtimedwait(&blocked, nullptr, &nothing) > 0) {
  }
  CHECK(sigprocmask(SIG_UNBLOCK, &blocked, nullptr) == 0);
  // An absolute time of the wall clock.
  CHECK(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
  itimerspec at{};
  CHECK(clock_gettime(CLOCK_REALTIME, &at.it_value) == 0);
  at.it_value.tv_nsec += 20 * millisecond;
  if (at.it_value.tv_nsec >= 1'000'000'000) {
    at.it_value.tv_nsec -= 1'000'000'000;
    ++at.it_value.tv_sec;
  }
  seen = 0;
  CHECK(timer_settime(timer, TIMER_ABSTIME, &at, nullptr) == 0);
  wait_for(1);
  CHECK(timer_delete(timer) == 0);
  // One that tells nobody.
  event.sigev_notify = SIGEV_NONE;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &silent) == 0);
  const itimerspec later{{0, 0}, {5, 0}};
  CHECK(timer_settime(silent, 0, &later, nullptr) == 0 && timer_gettime(silent, &left) == 0);
  CHECK(left.it_value.tv_sec == 4 && timer_delete(silent) == 0);
  // By a thread of the library's own.
  static std::atomic<int> called;
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = [](sigval value) { called = value.sival_int; };
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const itimerspec soon{{0, 0}, {0, 5 * millisecond}};
  CHECK(timer_settime(timer, 0, &soon, nullptr) == 0);
  for (int i = 0; i < 3000 && called == 0; ++i) usleep(1000);
  CHECK(called == 4711 && timer_delete(timer) == 0);
}

void spend(std::int64_t nanoseconds) {
  const std::int64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  while (read_clock(CLOCK_THREAD_CPUTIME_ID) - begin < nanoseconds) {
  }
}

void processor_time() {
  const std::int64_t own = read_clock(CLOCK_THREAD_CPUTIME_ID), all = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  usleep(50'000);  // costs nothing
  CHECK(read_clock(CLOCK_THREAD_CPUTIME_ID) - own < 30 * millisecond);
  pthread_t thread;
  static std::atomic<bool> was_read = false;  // the clock of a thread that ended is none
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              spend(60 * millisecond);
              while (!was_read) usleep(1000);
              return nullptr;
            },
            nullptr) == 0);
  clockid_t clock{};
  CHECK(pthread_getcpuclockid(thread, &clock) == 0);
  for (int i = 0; i < 3000 && read_clock(clock) < 20 * millisecond; ++i) usleep(1000);
  CHECK(read_clock(clock) >= 20 * millisecond);
  was_read = true;
  CHECK(pthread_join(thread, nullptr) == 0);
  spend(20 * millisecond);
  const std::int64_t spent = read_clock(CLOCK_PROCESS_CPUTIME_ID) - all;
  CHECK(spent >= 80 * millisecond);
  rusage usage{};
  const auto microseconds = [&] {
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
  };
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0 && microseconds() >= 80'000 && usage.ru_maxrss > 0);
  CHECK(getrusage(RUSAGE_THREAD, &usage) == 0 && microseconds() >= 20'000);
  tms ticks{};
  CHECK(times(&ticks) != -1 && ticks.tms_utime + ticks.tms_stime >= 8 && std::clock() >= 80'000);
  std::int64_t before = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t time = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    CHECK(time >= before);
    before = time;
  }
}

void names() {
  char name[16] = {};
  CHECK(prctl(PR_SET_NAME, "a name that is too long for it") == 0 && prctl(PR_GET_NAME, name) == 0);
  CHECK(std::strcmp(name, "a name that is ") == 0);
  CHECK(pthread_setname_np(pthread_self(), "short") == 0 && pthread_getname_np(pthread_self(), name, 16) == 0);
  CHECK(std::strcmp(name, "short") == 0);
  CHECK(prctl(PR_GET_DUMPABLE) == 1 && prctl(4711) == -1 && errno == EINVAL);
}

}  // namespace

int main() {
  interval_timer();
  created_timers();
  processor_time();
  names();
  std::puts("all timers behaved");
  return 0;
}
