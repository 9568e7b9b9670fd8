// What a program with a network finds in files, how closing waits for what was sent, and what options say. All but the
// addresses is the same on Linux, where the last two parts pass as well (argument: anywhere).
//
// program-test: cast --grant network
// program-test: seconds 240
// program-test: expect name servers of the lease
// program-test: expect tables of the network
// program-test: expect closing waits
// program-test: expect options are Linux's
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>

#include "tests/programs/check.h"

namespace {

std::string content(const char* path) {
  const int file = open(path, O_RDONLY);
  CHECK(file >= 0);
  std::string text;
  char part[4096];
  for (ssize_t bytes; (bytes = read(file, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(bytes));
  CHECK(close(file) == 0);
  return text;
}

bool holds(const std::string& text, const char* part) {
  if (text.find(part) != std::string::npos) return true;
  std::printf("%s", text.c_str());
  return false;
}

// They come with the lease, which takes its time.
void wait_for_name_servers() {
  for (int turn = 0; content("/etc/resolv.conf").find("nameserver 10.0.2.3\n") == std::string::npos; ++turn) {
    CHECK(turn < 1500);
    usleep(20'000);
  }
  std::puts("name servers of the lease");
}

void check_tables() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), datagrams = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(8080);
  CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(listener, 5) == 0);
  CHECK(bind(datagrams, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(holds(content("/proc/net/tcp"), "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 "));
  CHECK(holds(content("/proc/net/udp"), ": 00000000:1F90 00000000:0000 07 00000000:00000000 00:00000000 "));
  CHECK(holds(content("/proc/net/route"), "eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0"));
  CHECK(holds(content("/proc/net/route"), "eth0\t00000000\t0202000A\t0003\t0\t0\t0\t00000000\t0\t0\t0"));
  CHECK(holds(content("/proc/net/if_inet6"), "00000000000000000000000000000001 01 80 10 80       lo\n"));
  CHECK(holds(content("/proc/net/dev"), "\n  eth0: "));
  CHECK(holds(content("/proc/net/snmp"), "\nTcp: 1 200 120000 -1 "));
  CHECK(holds(content("/proc/net/sockstat"), "\nTCP: inuse 1 orphan 0 tw 0 alloc 1 "));
  for (const char* path : {"/proc/net/tcp6", "/proc/net/udp6"}) {
    CHECK(!content(path).empty());
  }
  CHECK(close(listener) == 0 && close(datagrams) == 0);
  std::puts("tables of the network");
}

struct Pair {
  int client, server;
};

Pair connected() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  const int little = 8192;
  CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &little, sizeof little) == 0);
  CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(listener, 5) == 0);
  CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(setsockopt(client, SOL_SOCKET, SO_SNDBUF, &little, sizeof little) == 0);
  CHECK(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const int server = accept(listener, nullptr, nullptr);
  CHECK(server >= 0 && close(listener) == 0);
  return {client, server};
}

// Sends until nothing moves any more. How many bytes that were.
std::size_t fill(int client) {
  static char part[4096];
  std::size_t sent = 0;
  for (int still = 0; still < 20;) {
    const ssize_t bytes = send(client, part, sizeof part, MSG_DONTWAIT);
    still = bytes > 0 ? 0 : still + 1;
    if (bytes > 0) sent += static_cast<std::size_t>(bytes);
    if (bytes <= 0) usleep(5000);
  }
  return sent;
}

void set_linger(int socket_number, int seconds) {
  const linger value{1, seconds};
  CHECK(setsockopt(socket_number, SOL_SOCKET, SO_LINGER, &value, sizeof value) == 0);
}

double now() {
  timespec time{};
  CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void check_linger() {
  for (const bool waits : {true, false}) {  // as on Linux it is the same for a socket whose calls do not wait
    const Pair pair = connected();
    fill(pair.client);
    set_linger(pair.client, 1);
    CHECK(waits || fcntl(pair.client, F_SETFL, O_NONBLOCK) == 0);
    const double start = now();
    CHECK(close(pair.client) == 0 && now() - start >= 0.99);
    close(pair.server);
  }
  // A peer that reads, sooner or later, ends the wait: it would be longer than this test.
  for (const int delay : {0, 50'000}) {
    const Pair pair = connected();
    const std::size_t sent = fill(pair.client);
    set_linger(pair.client, 10'000);
    std::size_t received = 0;
    std::thread reader([&] {
      usleep(static_cast<useconds_t>(delay));
      char part[4096];
      for (ssize_t bytes; (bytes = read(pair.server, part, sizeof part)) > 0;)
        received += static_cast<std::size_t>(bytes);
    });
    CHECK(close(pair.client) == 0);
    reader.join();
    CHECK(received == sent && close(pair.server) == 0);
  }
  // So does one that goes, and so does a signal.
  Pair pair = connected();
  fill(pair.client);
  set_linger(pair.client, 10'000);
  std::thread leaver([&] {
    usleep(50'000);
    close(pair.server);
  });
  CHECK(close(pair.client) == 0);
  leaver.join();
  pair = connected();
  fill(pair.client);
  set_linger(pair.client, 10'000);
  std::signal(SIGALRM, [](int) {});
  const itimerval timer{{0, 100'000}, {0, 100'000}};
  CHECK(setitimer(ITIMER_REAL, &timer, nullptr) == 0);
  CHECK(close(pair.client) == 0);
  const itimerval none{};
  CHECK(setitimer(ITIMER_REAL, &none, nullptr) == 0);
  close(pair.server);
  // Another descriptor keeps it open: nobody waits. Without time the peer is told of a reset.
  pair = connected();
  fill(pair.client);
  set_linger(pair.client, 10'000);
  const int other = dup(pair.client);
  CHECK(close(pair.client) == 0);
  set_linger(other, 0);
  CHECK(close(other) == 0);
  char part[4096];
  ssize_t bytes = 1;
  while (bytes > 0) bytes = read(pair.server, part, sizeof part);
  CHECK(bytes == 0 || errno == ECONNRESET);
  CHECK(send(pair.server, part, 1, MSG_NOSIGNAL) == -1 && (errno == EPIPE || errno == ECONNRESET));
  close(pair.server);
  std::puts("closing waits");
}

int option(int socket_number, int level, int number) {
  int value = 0;
  socklen_t bytes = sizeof value;
  CHECK(getsockopt(socket_number, level, number, &value, &bytes) == 0 && bytes == sizeof value);
  return value;
}

void check_options() {
  const int socket_number = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(option(socket_number, IPPROTO_TCP, TCP_KEEPIDLE) == 7200 &&
        option(socket_number, IPPROTO_TCP, TCP_MAXSEG) == 536);
  const int on = 1;
  for (const int number : {TCP_NODELAY, TCP_CORK, TCP_QUICKACK, TCP_DEFER_ACCEPT, TCP_FASTOPEN, TCP_KEEPCNT}) {
    CHECK(setsockopt(socket_number, IPPROTO_TCP, number, &on, sizeof on) == 0);
  }
  for (const int number : {SO_REUSEADDR, SO_KEEPALIVE, SO_PRIORITY, SO_OOBINLINE, SO_INCOMING_CPU}) {
    CHECK(setsockopt(socket_number, SOL_SOCKET, number, &on, sizeof on) == 0);
  }
  CHECK(setsockopt(socket_number, SOL_SOCKET, 999, &on, sizeof on) == -1 && errno == ENOPROTOOPT);
  CHECK(setsockopt(socket_number, IPPROTO_TCP, 999, &on, sizeof on) == -1 && errno == ENOPROTOOPT);
  close(socket_number);
  std::puts("options are Linux's");
}

}  // namespace

int main(int argument_count, char**) {
  if (argument_count < 2) {
    wait_for_name_servers();
    check_tables();
  }
  check_linger();
  check_options();
  return 0;
}
