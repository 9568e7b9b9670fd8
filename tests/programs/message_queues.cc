// POSIX message queues: priorities, limits, waiting, and being told of a message.
// program-test: processors 2
// program-test: expect all queues behaved
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/programs/check.h"

namespace {

volatile sig_atomic_t seen = 0;
siginfo_t last{};

timespec in_milliseconds(long milliseconds) {
  timespec time{};
  CHECK(clock_gettime(CLOCK_REALTIME, &time) == 0);
  time.tv_nsec += milliseconds * 1'000'000;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

std::string receive(mqd_t queue, unsigned& priority) {
  char text[16];
  const ssize_t bytes = mq_receive(queue, text, sizeof text, &priority);
  CHECK(bytes >= 0);
  return std::string(text, static_cast<std::size_t>(bytes));
}

void names_and_limits() {
  CHECK(mq_open("/none", O_RDWR) == -1 && errno == ENOENT);
  CHECK(mq_open("/a/b", O_RDWR | O_CREAT, 0600, nullptr) == -1 && errno == EACCES);
  CHECK(mq_open(("/" + std::string(256, 'x')).c_str(), O_RDWR | O_CREAT, 0600, nullptr) == -1 && errno == ENAMETOOLONG);
  mq_attr wrong{};
  CHECK(mq_open("/q", O_RDWR | O_CREAT, 0600, &wrong) == -1 && errno == EINVAL);
  const mqd_t usual = mq_open("/q", O_RDWR | O_CREAT, 0600, nullptr);
  CHECK(usual >= 0);
  CHECK(fcntl(usual, F_GETFD) == FD_CLOEXEC);
  CHECK(mq_open("/q", O_RDWR | O_CREAT | O_EXCL, 0600, nullptr) == -1 && errno == EEXIST);
  mq_attr attributes{};
  CHECK(mq_getattr(usual, &attributes) == 0);
  CHECK(attributes.mq_maxmsg == 10 && attributes.mq_msgsize == 8192 && attributes.mq_curmsgs == 0);
  CHECK(mq_unlink("/q") == 0);
  CHECK(mq_unlink("/q") == -1 && errno == ENOENT);
  CHECK(mq_close(usual) == 0);
  CHECK(mq_close(usual) == -1 && errno == EBADF);
}

void messages(mqd_t queue) {
  char text[16];
  CHECK(mq_send(queue, "low", 3, 1) == 0 && mq_send(queue, "high", 4, 2) == 0);
  unsigned priority = 0;
  CHECK(receive(queue, priority) == "high" && priority == 2);
  CHECK(receive(queue, priority) == "low" && priority == 1);
  CHECK(mq_send(queue, "", 0, 1) == 0 && receive(queue, priority).empty());
  CHECK(mq_send(queue, text, 17, 0) == -1 && errno == EMSGSIZE);
  CHECK(mq_receive(queue, text, 15, nullptr) == -1 && errno == EMSGSIZE);
  CHECK(mq_send(queue, text, 1, 32768) == -1 && errno == EINVAL);
  CHECK(mq_send(STDIN_FILENO, text, 1, 0) == -1 && errno == EBADF);
  const mqd_t reader = mq_open("/small", O_RDONLY);
  CHECK(reader >= 0 && mq_send(reader, text, 1, 0) == -1 && errno == EBADF);
  CHECK(mq_close(reader) == 0);
  mq_attr attributes{}, before{};
  attributes.mq_flags = O_NONBLOCK;
  CHECK(mq_setattr(queue, &attributes, &before) == 0 && before.mq_flags == 0 && before.mq_maxmsg == 2);
  CHECK(mq_receive(queue, text, sizeof text, nullptr) == -1 && errno == EAGAIN);
  CHECK(mq_send(queue, "a", 1, 0) == 0 && mq_send(queue, "b", 1, 0) == 0);
  CHECK(mq_send(queue, "c", 1, 0) == -1 && errno == EAGAIN);
  pollfd look{queue, POLLIN | POLLOUT, 0};
  CHECK(poll(&look, 1, 0) == 1 && look.revents == POLLIN);
  attributes.mq_flags = 0;
  CHECK(mq_setattr(queue, &attributes, nullptr) == 0);
  timespec soon = in_milliseconds(20);
  CHECK(mq_timedsend(queue, "c", 1, 0, &soon) == -1 && errno == ETIMEDOUT);
  CHECK(receive(queue, priority) == "a" && receive(queue, priority) == "b");
  soon = in_milliseconds(20);
  CHECK(mq_timedreceive(queue, text, sizeof text, nullptr, &soon) == -1 && errno == ETIMEDOUT);
  const timespec none{1, -1};
  CHECK(mq_timedreceive(queue, text, sizeof text, nullptr, &none) == -1 && errno == EINVAL);
}

void waiting(mqd_t queue) {
  unsigned priority = 0;
  std::thread sender([&] {
    usleep(20'000);
    for (int i = 0; i < 100; ++i) CHECK(mq_send(queue, std::to_string(i).c_str(), 3, 0) == 0);
  });
  for (int i = 0; i < 100; ++i) CHECK(std::atoi(receive(queue, priority).c_str()) == i);
  sender.join();
  // A handler ends a wait, unless it lets the call begin again.
  struct sigaction action{};
  action.sa_sigaction = [](int, siginfo_t* information, void*) {
    last = *information;
    seen = seen + 1;
  };
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0 && sigaction(SIGUSR1, &action, nullptr) == 0);
  const pthread_t self = pthread_self();
  std::thread disturber([&] {
    usleep(20'000);
    CHECK(pthread_kill(self, SIGALRM) == 0);
  });
  char text[16];
  CHECK(mq_receive(queue, text, sizeof text, nullptr) == -1 && errno == EINTR && seen == 1);
  disturber.join();
}

void being_told(mqd_t queue) {
  seen = 0;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  event.sigev_value.sival_int = 42;
  CHECK(mq_notify(queue, &event) == 0);
  CHECK(mq_notify(queue, &event) == -1 && errno == EBUSY);
  CHECK(mq_send(queue, "x", 1, 0) == 0);
  CHECK(seen == 1 && last.si_signo == SIGUSR1 && last.si_code == SI_MESGQ && last.si_value.sival_int == 42);
  CHECK(last.si_pid == getpid());
  CHECK(mq_send(queue, "y", 1, 0) == 0 && seen == 1);  // told once
  unsigned priority = 0;
  CHECK(receive(queue, priority) == "x" && receive(queue, priority) == "y");
  CHECK(mq_notify(queue, &event) == 0 && mq_notify(queue, nullptr) == 0);
  CHECK(mq_send(queue, "z", 1, 0) == 0 && seen == 1);
  CHECK(receive(queue, priority) == "z");
  event.sigev_signo = 65;
  CHECK(mq_notify(queue, &event) == -1 && errno == EINVAL);
  event.sigev_notify = SIGEV_THREAD;
  CHECK(mq_notify(queue, &event) == -1 && errno == ENOSYS);
}

}  // namespace

int main() {
  names_and_limits();
  mq_attr small{};
  small.mq_maxmsg = 2;
  small.mq_msgsize = 16;
  const mqd_t queue = mq_open("/small", O_RDWR | O_CREAT, 0600, &small);
  CHECK(queue >= 0);
  messages(queue);
  waiting(queue);
  being_told(queue);
  CHECK(mq_unlink("/small") == 0 && mq_close(queue) == 0);
  std::puts("all queues behaved");
}
