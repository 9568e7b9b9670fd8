// Bytes over TCP, both ways at once: what tests/network/lossy_network_test.py talks with through a bad network.
// A client says how many it will send and how many it wants; it gets its own back as they come, or zeros if it sends
// none. With a port as argument it serves there until a client neither sends nor wants any; else it is its own client.
// program-test: cast --grant network
// program-test: expect 300000 bytes in, 300000 out
// program-test: expect came back
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/check.h"

namespace {

struct Request {
  std::uint64_t from_client = 0, to_client = 0;
};

int listen_at(sockaddr_in& address) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(listener >= 0);
  socklen_t bytes = sizeof address;
  CHECK(bind(listener, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 && listen(listener, 4) == 0);
  CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
  return listener;
}

void report(int connection, const Request& request) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  CHECK(getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0);
  std::printf("%llu bytes in, %llu out; %u segments sent again, window %u, threshold %u, round trip %u us\n",
              static_cast<unsigned long long>(request.from_client), static_cast<unsigned long long>(request.to_client),
              info.tcpi_total_retrans, info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh, info.tcpi_rtt);
  std::fflush(stdout);
}

void exchange(int connection, const Request& request) {
  std::vector<char> content(std::max(request.from_client, request.to_client));
  std::uint64_t received = 0, sent = 0;
  while (received < request.from_client || sent < request.to_client) {
    const std::uint64_t ready = request.from_client == 0 ? request.to_client : std::min(received, request.to_client);
    pollfd wait{.fd = connection, .events = 0, .revents = 0};
    if (received < request.from_client) wait.events |= POLLIN;
    if (sent < ready) wait.events |= POLLOUT;
    CHECK(poll(&wait, 1, -1) == 1 && (wait.revents & (POLLERR | POLLNVAL)) == 0);
    if ((wait.revents & POLLIN) != 0) {
      const ssize_t count = recv(connection, content.data() + received, request.from_client - received, MSG_DONTWAIT);
      CHECK(count > 0);
      received += static_cast<std::uint64_t>(count);
    }
    if ((wait.revents & POLLOUT) != 0) {
      const ssize_t count = send(connection, content.data() + sent, ready - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      CHECK(count > 0);
      sent += static_cast<std::uint64_t>(count);
    }
  }
}

// One client after the other.
void serve(int listener) {
  for (;;) {
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    CHECK(connection >= 0);
    Request request;
    CHECK(recv(connection, &request, sizeof request, MSG_WAITALL) == static_cast<ssize_t>(sizeof request));
    exchange(connection, request);
    report(connection, request);
    close(connection);
    if (request.from_client == 0 && request.to_client == 0) return;
  }
}

void ask(const sockaddr_in& address, const Request& request) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  std::string text(request.from_client, '\0'), back(request.to_client, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  std::thread sender([&] {
    CHECK(send(connection, &request, sizeof request, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof request));
    CHECK(send(connection, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  });
  CHECK(recv(connection, back.data(), back.size(), MSG_WAITALL) == static_cast<ssize_t>(back.size()));
  sender.join();
  char end;
  CHECK(back == text && recv(connection, &end, 1, 0) == 0);
  close(connection);
}

}  // namespace

int main(int count, char** words) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(count > 1 ? std::atoi(words[1]) : 0));
  address.sin_addr.s_addr = htonl(count > 1 ? INADDR_ANY : INADDR_LOOPBACK);
  const int listener = listen_at(address);
  std::puts("listening");
  std::fflush(stdout);
  if (count > 1) {
    serve(listener);
    return 0;
  }
  std::thread server(serve, listener);
  ask(address, {300'000, 300'000});
  ask(address, {});
  server.join();
  std::puts("came back");
  return 0;
}
