// Signals as POSIX and Linux have them: handlers, masks, queues, waiting, interrupted calls.
// program-test: processors 2
// program-test: cast --tmpfs 1M
// program-test: expect all signals behaved
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "tests/programs/signal_handlers.h"

namespace {

siginfo_t last{};
std::atomic<int> order[16], order_count{0};

void record(int signal, siginfo_t* information, void*) {
  last = *information;
  order[order_count++] = signal;
}

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// A thread that sends a signal to the main one after a while.
struct Later {
  explicit Later(int signal, int milliseconds = 30)
      : signal_(signal), milliseconds_(milliseconds), to_(pthread_self()) {
    CHECK(pthread_create(&thread_, nullptr, run, this) == 0);
  }
  ~Later() { CHECK(pthread_join(thread_, nullptr) == 0); }
  static void* run(void* argument) {
    const Later& self = *static_cast<Later*>(argument);
    const timespec time{0, self.milliseconds_ * 1'000'000};
    nanosleep(&time, nullptr);
    CHECK(pthread_kill(self.to_, self.signal_) == 0);
    return nullptr;
  }
  int signal_, milliseconds_;
  pthread_t to_, thread_{};
};

void handlers_and_masks() {
  handle(SIGUSR1, count);
  CHECK(raise(SIGUSR1) == 0 && seen == 1);
  CHECK(kill(getpid(), SIGUSR1) == 0 && seen == 2);
  CHECK(kill(getpid(), 0) == 0);
  CHECK(kill(77, SIGUSR1) == -1 && errno == ESRCH);
  CHECK(syscall(SYS_tgkill, getpid(), 4711, SIGUSR1) == -1 && errno == ESRCH);
  CHECK(kill(getpid(), 65) == -1 && errno == EINVAL);

  const sigset_t blocked = set_of(SIGUSR1);
  sigset_t before, pending;
  CHECK(sigprocmask(SIG_BLOCK, &blocked, &before) == 0 && !sigismember(&before, SIGUSR1));
  CHECK(raise(SIGUSR1) == 0 && raise(SIGUSR1) == 0 && seen == 2);
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1 && sigismember(&pending, SIGUSR2) == 0);
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0 && seen == 3);  // once: it does not queue

  handle(SIGUSR1, SIG_IGN);
  CHECK(raise(SIGUSR1) == 0 && seen == 3);
  CHECK(raise(SIGCHLD) == 0 && raise(SIGWINCH) == 0);  // nothing, unless asked
  handle(SIGUSR2, count, SA_RESETHAND);
  CHECK(raise(SIGUSR2) == 0 && seen == 4);
  struct sigaction action;
  CHECK(sigaction(SIGUSR2, nullptr, &action) == 0 && action.sa_handler == SIG_DFL);
  CHECK(sigaction(SIGKILL, &action, nullptr) == -1 && errno == EINVAL);
  if (getpid() == 1) CHECK(raise(SIGTSTP) == 0);  // Ingot's kernel has no job control: it goes on
}

void realtime_signals_queue_in_order() {
  for (int signal : {SIGRTMIN + 1, SIGRTMIN + 2, SIGUSR1}) handle_with_information(signal, record);
  sigset_t blocked = set_of(SIGRTMIN + 1, SIGRTMIN + 2), before;
  sigaddset(&blocked, SIGUSR1);
  CHECK(sigprocmask(SIG_BLOCK, &blocked, &before) == 0);
  for (int i = 1; i <= 3; ++i) {
    sigval value{};
    value.sival_int = i;
    CHECK(sigqueue(getpid(), SIGRTMIN + 2, value) == 0 && sigqueue(getpid(), SIGRTMIN + 1, value) == 0);
  }
  CHECK(raise(SIGUSR1) == 0);
  order_count = 0;
  // Handlers of later ones run on top of the first's frame: the last to be told is the first to run.
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0 && order_count == 7);
  int numbers[3] = {};
  for (int i = 0; i < 7; ++i) ++numbers[order[i] == SIGUSR1 ? 0 : order[i] - SIGRTMIN];
  CHECK(numbers[0] == 1 && numbers[1] == 3 && numbers[2] == 3);

  // Waiting takes them in order, with what came along.
  CHECK(sigprocmask(SIG_BLOCK, &blocked, nullptr) == 0);
  for (int i = 1; i <= 3; ++i) {
    sigval value{};
    value.sival_int = i * 10;
    CHECK(sigqueue(getpid(), SIGRTMIN + 1, value) == 0);
  }
  const sigset_t wanted = set_of(SIGRTMIN + 1);
  for (int i = 1; i <= 3; ++i) {
    siginfo_t information;
    CHECK(sigwaitinfo(&wanted, &information) == SIGRTMIN + 1 && information.si_value.sival_int == i * 10);
    CHECK(information.si_code == SI_QUEUE && information.si_pid == getpid());
  }
  const timespec soon{0, 20'000'000};
  const std::int64_t begin = now();
  CHECK(sigtimedwait(&wanted, nullptr, &soon) == -1 && errno == EAGAIN && now() - begin >= 20'000'000);
  {
    const Later later(SIGRTMIN + 1);
    siginfo_t information;
    CHECK(sigwaitinfo(&wanted, &information) == SIGRTMIN + 1 && information.si_code == SI_USER);
  }
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0);
}

void interrupted_calls() {
  int ends[2];
  char byte = 0;
  CHECK(pipe(ends) == 0);
  handle(SIGUSR1, count);
  seen = 0;
  {
    const Later later(SIGUSR1);
    CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR && seen == 1);
  }
  static int writing;
  writing = ends[1];
  handle(SIGUSR1, [](int) { CHECK(write(writing, "x", 1) == 1); }, SA_RESTART);
  {
    const Later later(SIGUSR1);
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');  // it began again
  }
  handle(SIGUSR1, count, SA_RESTART);
  timespec wait{5, 0}, rest{};
  {
    const Later later(SIGUSR1);
    CHECK(nanosleep(&wait, &rest) == -1 && errno == EINTR && rest.tv_sec == 4);  // never begins again
  }
  pollfd entry{ends[0], POLLIN, 0};
  {
    const Later later(SIGUSR1);
    CHECK(poll(&entry, 1, 5000) == -1 && errno == EINTR);
  }
  // A signal that is ignored interrupts nothing.
  handle(SIGUSR2, SIG_IGN);
  {
    const Later later(SIGUSR2, 10);
    const std::int64_t begin = now();
    CHECK(poll(&entry, 1, 60) == 0 && now() - begin >= 60'000'000);
  }
  // Only while it waits: the mask of ppoll, pselect, epoll_pwait and sigsuspend.
  sigset_t before, none;
  const sigset_t blocked = set_of(SIGUSR1);
  sigemptyset(&none);
  CHECK(sigprocmask(SIG_BLOCK, &blocked, &before) == 0);
  seen = 0;
  CHECK(raise(SIGUSR1) == 0 && seen == 0);
  CHECK(ppoll(&entry, 1, nullptr, &none) == -1 && errno == EINTR && seen == 1);
  CHECK(raise(SIGUSR1) == 0 && seen == 1);
  fd_set files;
  FD_ZERO(&files);
  FD_SET(ends[0], &files);
  CHECK(pselect(ends[0] + 1, &files, nullptr, nullptr, nullptr, &none) == -1 && errno == EINTR && seen == 2);
  const int epoll = epoll_create1(0);
  epoll_event event{EPOLLIN, {}};
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0 && raise(SIGUSR1) == 0 && seen == 2);
  CHECK(epoll_pwait(epoll, &event, 1, -1, &none) == -1 && errno == EINTR && seen == 3);
  CHECK(raise(SIGUSR1) == 0 && sigsuspend(&none) == -1 && errno == EINTR && seen == 4);
  sigset_t after;
  CHECK(sigprocmask(SIG_BLOCK, nullptr, &after) == 0 && sigismember(&after, SIGUSR1) == 1);
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0 && seen == 4);
  {
    const Later later(SIGUSR1);
    CHECK(pause() == -1 && errno == EINTR && seen == 5);
  }
  // Nobody reads any more.
  handle(SIGPIPE, count);
  CHECK(close(ends[0]) == 0 && write(ends[1], "x", 1) == -1 && errno == EPIPE && seen == 6);
  close(ends[1]);
  close(epoll);
}

}  // namespace

int main() {
  handlers_and_masks();
  realtime_signals_queue_in_order();
  interrupted_calls();
  std::puts("all signals behaved");
  return 0;
}
