// What connections cost the kernel that only wait, each with a descriptor and watched by an epoll, and that all of it
// comes back when they end. Both ends are here, by the loop, so each counts twice.
//
// program-test: cast --grant network --descriptors 65536
// program-test: memory 128
// program-test: expect all of it came back
// program-test: log KiB of sockets
// program-test: never leak:
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "tests/programs/report.h"

namespace {

constexpr int pairs = 2000;

int tcp_socket() {
  const int number = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(number >= 0);
  return number;
}

void watch(int epoll, int number) {
  epoll_event event{};
  event.events = EPOLLIN;
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event) == 0);
}

// The ends that connect, then those that were accepted.
std::vector<int> open_pairs(int listener, const sockaddr_in& at, int epoll) {
  std::vector<int> ends(2 * pairs);
  for (int i = 0; i < pairs; ++i) {
    ends[i] = tcp_socket();
    CHECK(connect(ends[i], reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    ends[pairs + i] = accept(listener, nullptr, nullptr);
    CHECK(ends[pairs + i] >= 0);
    watch(epoll, ends[i]);
    watch(epoll, ends[pairs + i]);
  }
  return ends;
}

// By resets: the memory of a connection that ended well is TIME-WAIT's for a minute.
void close_all(const std::vector<int>& ends) {
  constexpr linger at_once{1, 0};
  for (const int end : ends) {
    CHECK(setsockopt(end, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    CHECK(close(end) == 0);
  }
}

}  // namespace

int main() {
  const int listener = tcp_socket(), epoll = epoll_create1(0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(8080);
  CHECK(bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 && listen(listener, 16) == 0);

  close_all(open_pairs(listener, at, epoll));  // tables, and slots of descriptors, stay
  const std::uint64_t sockets = counter("socket-bytes"), charged = counter("charged-bytes");
  const std::uint64_t before = counter("frames-free");
  const std::vector<int> ends = open_pairs(listener, at, epoll);
  const std::uint64_t each = (before - counter("frames-free")) * 4096 / ends.size();
  std::printf("%llu bytes of frames for each connection, %llu of them sockets'\n",
              static_cast<unsigned long long>(each),
              static_cast<unsigned long long>((counter("socket-bytes") - sockets) / ends.size()));
  CHECK(counter("charged-bytes") - charged >= counter("socket-bytes") - sockets);
  // With the 64 frames, 65 bytes of each, that a CPU may have taken for itself meanwhile, and with the local port, a
  // record of 64 bytes, which only one end of two has.
  CHECK(each <= 1024);

  const char letter = 'x';
  char heard = 0;
  CHECK(write(ends[7], &letter, 1) == 1 && read(ends[pairs + 7], &heard, 1) == 1 && heard == letter);
  close_all(ends);
  CHECK(counter("socket-bytes") == sockets);
  CHECK(counter("frames-free") + 64 >= before);
  std::printf("all of it came back\n");
}
