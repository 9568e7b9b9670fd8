// What a program may use at most, and what it is told when it comes to that; CPU time as a clock that signals.
//
// program-test: processors 2
// program-test: cast --tmpfs 4M
// program-test: expect all limits hold
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include "tests/programs/check.h"

namespace {

constexpr std::int64_t millisecond = 1'000'000;
volatile sig_atomic_t seen[65] = {};

void count_signal(int signal) {
  seen[signal] = 0;
  struct sigaction action{};
  action.sa_handler = [](int number) { seen[number] = seen[number] + 1; };
  CHECK(sigaction(signal, &action, nullptr) == 0);
}

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  CHECK(clock_gettime(clock, &time) == 0);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

template <class Done>
void spend_until(Done&& done) {
  const std::int64_t begin = read_clock(CLOCK_MONOTONIC);
  while (!done()) CHECK(read_clock(CLOCK_MONOTONIC) - begin < 20'000 * millisecond);
}

rlimit limit_of(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit{};
  CHECK(getrlimit(resource, &limit) == 0);
  return limit;
}

void open_files() {
  const rlimit before = limit_of(RLIMIT_NOFILE);
  rlimit few = before;
  few.rlim_cur = 5;
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0 && limit_of(RLIMIT_NOFILE).rlim_cur == 5);
  const int three = open("/", O_RDONLY), four = open("/", O_RDONLY);
  CHECK(three == 3 && four == 4 && open("/", O_RDONLY) == -1 && errno == EMFILE);
  CHECK(dup2(three, 5) == -1 && errno == EBADF);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0 && dup2(three, 5) == 5);
  CHECK(close(3) == 0 && close(4) == 0 && close(5) == 0);
  const rlimit wrong{10, 5};
  CHECK(setrlimit(RLIMIT_NOFILE, &wrong) == -1 && errno == EINVAL);
  rlimit old{};
  CHECK(prlimit(0, RLIMIT_CORE, nullptr, &old) == 0 && prlimit(4711, RLIMIT_CORE, nullptr, &old) == -1);
  CHECK(errno == ESRCH);
  if (getpid() != 1) return;  // on Linux the superuser may
  const rlimit fewer{0, 10}, more{0, 20};
  CHECK(setrlimit(RLIMIT_MEMLOCK, &fewer) == 0 && setrlimit(RLIMIT_MEMLOCK, &more) == -1 && errno == EPERM);
}

void file_size() {
  count_signal(SIGXFSZ);
  const int file = open("/tmp/limited", O_RDWR | O_CREAT | O_TRUNC, 0600);
  const rlimit before = limit_of(RLIMIT_FSIZE), small{100, before.rlim_max};
  CHECK(file >= 0 && setrlimit(RLIMIT_FSIZE, &small) == 0);
  char bytes[80] = {};
  CHECK(write(file, bytes, 80) == 80 && write(file, bytes, 80) == 20 && seen[SIGXFSZ] == 0);
  CHECK(write(file, bytes, 80) == -1 && errno == EFBIG && seen[SIGXFSZ] == 1);
  CHECK(pwrite(file, bytes, 1, 100) == -1 && errno == EFBIG && seen[SIGXFSZ] == 2);
  CHECK(ftruncate(file, 101) == -1 && errno == EFBIG && seen[SIGXFSZ] == 3 && ftruncate(file, 100) == 0);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0 && write(file, bytes, 80) == 80 && close(file) == 0);
}

void address_space() {
  const rlimit before = limit_of(RLIMIT_AS), little{64 << 20, before.rlim_max};
  CHECK(setrlimit(RLIMIT_AS, &little) == 0);
  for (const int sharing : {MAP_PRIVATE, MAP_SHARED}) {
    CHECK(mmap(nullptr, 256 << 20, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    CHECK(errno == ENOMEM);
  }
  CHECK(setrlimit(RLIMIT_AS, &before) == 0);
}

void processor_time() {
  count_signal(SIGVTALRM);
  count_signal(SIGPROF);
  const itimerval often{{0, 10'000}, {0, 10'000}}, off{};
  std::int64_t begin = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  CHECK(setitimer(ITIMER_PROF, &often, nullptr) == 0 && setitimer(ITIMER_VIRTUAL, &often, nullptr) == 0);
  usleep(50'000);  // costs nothing
  CHECK(seen[SIGPROF] <= 1);
  spend_until([] { return seen[SIGPROF] >= 3 && seen[SIGVTALRM] >= 3; });
  CHECK(read_clock(CLOCK_PROCESS_CPUTIME_ID) - begin >= 30 * millisecond);
  itimerval left{};
  CHECK(getitimer(ITIMER_PROF, &left) == 0 && left.it_interval.tv_usec == 10'000);
  CHECK(setitimer(ITIMER_PROF, &off, nullptr) == 0 && setitimer(ITIMER_VIRTUAL, &off, nullptr) == 0);
  // Timers of the process's time and of a thread's.
  clockid_t own{};
  CHECK(clock_getcpuclockid(0, &own) == 0);
  for (const clockid_t clock : {clockid_t{CLOCK_PROCESS_CPUTIME_ID}, own, clockid_t{CLOCK_THREAD_CPUTIME_ID}}) {
    count_signal(SIGUSR1);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    timer_t timer{};
    CHECK(timer_create(clock, &event, &timer) == 0);
    const itimerspec soon{{0, 0}, {0, 15 * millisecond}};
    begin = read_clock(clock);
    CHECK(timer_settime(timer, 0, &soon, nullptr) == 0);
    spend_until([] { return seen[SIGUSR1] == 1; });
    CHECK(read_clock(clock) - begin >= 15 * millisecond && timer_delete(timer) == 0);
  }
  // Nearly never: the clock goes on meanwhile.
  timer_t seldom{};
  const itimerspec never{{0, 0}, {INT64_MAX, 0}};
  CHECK(timer_create(CLOCK_THREAD_CPUTIME_ID, nullptr, &seldom) == 0);
  CHECK(timer_settime(seldom, 0, &never, nullptr) == 0 && usleep(10'000) == 0 && timer_delete(seldom) == 0);
  // Sleeping for as long as others work.
  const timespec none{};
  CHECK(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, TIMER_ABSTIME, &none, nullptr) == 0);
  CHECK(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &none, nullptr) == EINVAL);
  CHECK(clock_nanosleep(99999, 0, &none, nullptr) == EINVAL);
  // A second at most: the signal comes when it is over.
  count_signal(SIGXCPU);
  const rlimit before = limit_of(RLIMIT_CPU), second{1, before.rlim_max};
  CHECK(setrlimit(RLIMIT_CPU, &second) == 0);
  spend_until([] { return seen[SIGXCPU] == 1; });
  CHECK(read_clock(CLOCK_PROCESS_CPUTIME_ID) >= 990 * millisecond && setrlimit(RLIMIT_CPU, &before) == 0);
}

}  // namespace

int main() {
  open_files();
  file_size();
  address_space();
  processor_time();
  std::puts("all limits hold");
  return 0;
}
