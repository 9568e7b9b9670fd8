// An epoll in an epoll: the outer one tells of what happens to files of the inner one, to sleepers as well.
// program-test: processors 2
// program-test: options check-locks
// program-test: expect epolls hold epolls
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

#include "tests/programs/check.h"

namespace {

bool watch(int epoll, int file, std::uint32_t events = EPOLLIN) {
  epoll_event event{};
  event.events = events;
  event.data.fd = file;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event) == 0;
}
// The file that is told of, or -1: none in time.
int wait_for(int epoll, int milliseconds) {
  epoll_event event{};
  const int told = epoll_wait(epoll, &event, 1, milliseconds);
  CHECK(told >= 0);
  return told == 0 ? -1 : event.data.fd;
}
void take(int file) {
  std::uint64_t number = 0;
  CHECK(read(file, &number, sizeof number) == sizeof number);
}

}  // namespace

int main() {
  const int outer = epoll_create1(0), inner = epoll_create1(0), event = eventfd(0, 0);
  CHECK(watch(inner, event) && watch(outer, inner) && wait_for(outer, 0) == -1);
  for (int turn = 0; turn < 20; ++turn) {
    std::thread writer([&] { CHECK(usleep(1000) == 0 && eventfd_write(event, 1) == 0); });
    if (turn % 2 == 0) {
      CHECK(wait_for(outer, -1) == inner);
    } else {
      pollfd look{outer, POLLIN, 0};
      CHECK(poll(&look, 1, -1) == 1 && look.revents == POLLIN);
    }
    CHECK(wait_for(inner, 0) == event && wait_for(outer, 0) == inner);
    take(event);
    CHECK(wait_for(outer, 0) == -1 && wait_for(inner, 0) == -1);
    writer.join();
  }
  // A timer within, which time alone makes ready.
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec soon{{0, 0}, {0, 10'000'000}};
  CHECK(watch(inner, timer) && timerfd_settime(timer, 0, &soon, nullptr) == 0);
  CHECK(wait_for(outer, -1) == inner && wait_for(inner, 0) == timer);
  take(timer);
  CHECK(wait_for(outer, 0) == -1);
  // Who asks it for nothing that comes is not kept from the end of its time.
  CHECK(timerfd_settime(timer, 0, &soon, nullptr) == 0 && wait_for(outer, -1) == inner);
  pollfd unasked{timer, POLLOUT, 0};
  CHECK(poll(&unasked, 1, 5) == 0);
  take(timer);
  // A timer that is set already, and comes while others sleep without a time: they learn of it.
  for (int turn = 0; turn < 20; ++turn) {
    const int added = timerfd_create(CLOCK_MONOTONIC, 0), target = turn % 2 == 0 ? outer : inner;
    std::thread adder(
        [&] { CHECK(usleep(1000) == 0 && timerfd_settime(added, 0, &soon, nullptr) == 0 && watch(target, added)); });
    CHECK(wait_for(outer, -1) == (target == outer ? added : inner));
    adder.join();
    CHECK(close(added) == 0 && wait_for(outer, 0) == -1);
  }

  CHECK(!watch(outer, outer) && errno == EINVAL && !watch(inner, outer) && errno == ELOOP);
  CHECK(!watch(outer, inner) && errno == EEXIST);
  // Two threads that would put each into the other: never both, and whoever loses is told so.
  const int left = epoll_create1(0), right = epoll_create1(0);
  for (int turn = 0; turn < 200; ++turn) {
    int into_left = 0, into_right = 0;
    std::thread other([&] { into_left = watch(left, right) ? 0 : errno; });
    into_right = watch(right, left) ? 0 : errno;
    other.join();
    CHECK((into_left == 0 || into_left == ELOOP) && (into_right == 0 || into_right == ELOOP));
    CHECK(into_left != 0 || into_right != 0);
    if (into_left == 0) CHECK(epoll_ctl(left, EPOLL_CTL_DEL, right, nullptr) == 0);
    if (into_right == 0) CHECK(epoll_ctl(right, EPOLL_CTL_DEL, left, nullptr) == 0);
  }
  CHECK(eventfd_write(event, 1) == 0 && wait_for(outer, 0) == inner);
  CHECK(close(inner) == 0 && wait_for(outer, 0) == -1 && close(outer) == 0);
  std::puts("epolls hold epolls");
}
