// Sockets with names within a program: in the file tree and abstract; backlogs, datagrams, options, times, many
// messages by one call. The same source runs on Linux and says the same there.
//
// program-test: cast --tmpfs 4M
// program-test: processors 2
// program-test: expect names lead to sockets
// program-test: expect backlogs hold who connects
// program-test: expect datagrams know their senders
// program-test: expect options are Linux's
// program-test: expect times end calls
// program-test: expect many messages by one call
// program-test: expect edges come with arrivals
// program-test: expect sixteen clients were served
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/check.h"

namespace {

struct Name {
  explicit Name(const std::string& text) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, text.data(), text.size());
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + (text[0] != '\0' ? 1 : 0));
  }
  operator const sockaddr*() const { return reinterpret_cast<const sockaddr*>(&address); }
  sockaddr_un address{};
  socklen_t bytes = 0;
};

const std::string abstract("\0ingot local sockets", 20);

int bound(int type, const std::string& text) {
  const int socket_number = socket(AF_UNIX, type, 0);
  const Name name(text);
  CHECK(socket_number >= 0 && bind(socket_number, name, name.bytes) == 0);
  return socket_number;
}
int try_connect(int socket_number, const std::string& text) {
  const Name name(text);
  return connect(socket_number, name, name.bytes);
}
int connected(int type, const std::string& text) {
  const int socket_number = socket(AF_UNIX, type, 0);
  CHECK(socket_number >= 0 && try_connect(socket_number, text) == 0);
  return socket_number;
}
std::string name_of(int socket_number, decltype(getsockname)* ask) {
  sockaddr_un address{};
  socklen_t bytes = sizeof address;
  CHECK(ask(socket_number, reinterpret_cast<sockaddr*>(&address), &bytes) == 0 && address.sun_family == AF_UNIX);
  return {address.sun_path, bytes - offsetof(sockaddr_un, sun_path)};
}
void close_all(std::initializer_list<int> numbers) {
  for (const int number : numbers) CHECK(close(number) == 0);
}
std::string received(int socket_number, int flags = 0) {
  char text[100];
  const ssize_t bytes = recv(socket_number, text, sizeof text, flags);
  CHECK(bytes >= 0);
  return {text, static_cast<std::size_t>(bytes)};
}

void names() {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    unlink("/tmp/door");
    const int listener = bound(type, "/tmp/door");
    struct stat status{};
    CHECK(stat("/tmp/door", &status) == 0 && S_ISSOCK(status.st_mode) && status.st_nlink == 1);
    CHECK(open("/tmp/door", O_RDWR) == -1 && errno == ENXIO);
    CHECK(chmod("/tmp/door", 0600) == 0 && stat("/tmp/door", &status) == 0 && (status.st_mode & 0777) == 0600);
    const int client = socket(AF_UNIX, type, 0), second = socket(AF_UNIX, type, 0);
    CHECK(try_connect(client, "/tmp/door") == -1 && errno == ECONNREFUSED);  // nobody listens
    const Name name("/tmp/door");
    CHECK(bind(second, name, name.bytes) == -1 && errno == EADDRINUSE);
    CHECK(accept(listener, nullptr, nullptr) == -1 && errno == EINVAL);
    CHECK(listen(listener, 5) == 0 && try_connect(client, "/tmp/door") == 0);
    CHECK(try_connect(client, "/tmp/door") == -1 && errno == EISCONN);
    CHECK(name_of(client, getpeername) == std::string("/tmp/door\0", 10) && name_of(client, getsockname).empty());
    sockaddr_un peer{};
    socklen_t bytes = sizeof peer;
    const int server = accept4(listener, reinterpret_cast<sockaddr*>(&peer), &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
    CHECK(server >= 0 && bytes == sizeof peer.sun_family && (fcntl(server, F_GETFL) & O_NONBLOCK) != 0);
    CHECK((fcntl(server, F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(client, F_GETFD) & FD_CLOEXEC) == 0);
    CHECK(send(client, "there", 5, 0) == 5 && received(server) == "there");
    CHECK(recv(server, &peer, 1, 0) == -1 && errno == EAGAIN);
    ucred who{};
    bytes = sizeof who;
    CHECK(getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.pid == getpid() && who.uid == getuid());
    CHECK(unlink("/tmp/door") == 0 && try_connect(second, "/tmp/door") == -1 && errno == ENOENT);
    CHECK(send(server, "back", 4, 0) == 4 && received(client) == "back");  // the name is gone, they are not
    CHECK(try_connect(socket(AF_UNIX, SOCK_DGRAM, 0), "/proc/self/exe") == -1 && errno == ECONNREFUSED);
    close_all({listener, client, second, server});
  }
  const int listener = bound(SOCK_STREAM, abstract), datagrams = bound(SOCK_DGRAM, abstract);
  CHECK(listen(listener, 5) == 0);
  const int client = connected(SOCK_STREAM, abstract), server = accept(listener, nullptr, nullptr);
  CHECK(name_of(server, getsockname) == abstract && name_of(client, getpeername) == abstract);
  CHECK(try_connect(socket(AF_UNIX, SOCK_SEQPACKET, 0), abstract) == -1 && errno == ECONNREFUSED);
  close_all({listener, datagrams, client, server});
  CHECK(try_connect(socket(AF_UNIX, SOCK_STREAM, 0), abstract) == -1 && errno == ECONNREFUSED);
  const int unnamed = socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un any{};
  any.sun_family = AF_UNIX;
  CHECK(bind(unnamed, reinterpret_cast<sockaddr*>(&any), sizeof any.sun_family) == 0);
  CHECK(name_of(unnamed, getsockname).size() == 6);
  CHECK(bind(unnamed, reinterpret_cast<sockaddr*>(&any), 1) == -1 && errno == EINVAL);
  CHECK(bind(unnamed, reinterpret_cast<sockaddr*>(&any), 200) == -1 && errno == EINVAL);
  CHECK(bind(unnamed, reinterpret_cast<sockaddr*>(8), sizeof any) == -1 && errno == EFAULT);
  close(unnamed);
  std::puts("names lead to sockets");
}

void backlogs() {
  const int listener = bound(SOCK_STREAM, abstract);
  CHECK(listen(listener, 1) == 0);
  const int one = connected(SOCK_STREAM, abstract), two = connected(SOCK_STREAM, abstract);
  const int late = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  CHECK(try_connect(late, abstract) == -1 && errno == EAGAIN);
  CHECK(fcntl(late, F_SETFL, 0) == 0);
  std::thread waits([&] { CHECK(try_connect(late, abstract) == 0); });
  const int first = accept(listener, nullptr, nullptr);
  waits.join();
  CHECK(first >= 0 && send(one, "1", 1, 0) == 1 && received(first) == "1");
  close_all({listener, first});
  char byte;
  for (const int reset : {two, late}) {
    pollfd look{reset, POLLIN, 0};
    CHECK(poll(&look, 1, -1) == 1 && look.revents == (POLLIN | POLLERR | POLLHUP));
    CHECK(recv(reset, &byte, 1, 0) == -1 && errno == ECONNRESET && recv(reset, &byte, 1, 0) == 0);
    CHECK(send(reset, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
  }
  CHECK(recv(one, &byte, 1, 0) == 0);
  close_all({one, two, late});
  std::puts("backlogs hold who connects");
}

void datagrams() {
  unlink("/tmp/receiver");
  const int receiver = bound(SOCK_DGRAM, "/tmp/receiver"), sender = bound(SOCK_DGRAM, abstract);
  const Name to("/tmp/receiver");
  CHECK(sendto(sender, "named", 5, 0, to, to.bytes) == 5);
  char text[10];
  sockaddr_un from{};
  socklen_t bytes = sizeof from;
  CHECK(recvfrom(receiver, text, sizeof text, MSG_PEEK, reinterpret_cast<sockaddr*>(&from), &bytes) == 5);
  CHECK(bytes == offsetof(sockaddr_un, sun_path) + abstract.size());
  CHECK(std::memcmp(from.sun_path, abstract.data(), abstract.size()) == 0);
  bytes = 4;  // less than it needs: cut, and its length told
  CHECK(recvfrom(receiver, text, 2, MSG_TRUNC, reinterpret_cast<sockaddr*>(&from), &bytes) == 5 && bytes == 22);
  const int unnamed = socket(AF_UNIX, SOCK_DGRAM, 0);
  CHECK(send(unnamed, "x", 1, 0) == -1 && errno == ENOTCONN);
  CHECK(sendto(unnamed, "unnamed", 7, 0, to, to.bytes) == 7);
  CHECK(recvfrom(receiver, text, sizeof text, 0, reinterpret_cast<sockaddr*>(&from), &bytes) == 7 && bytes == 0);
  CHECK(try_connect(receiver, abstract) == 0 && sendto(unnamed, "x", 1, 0, to, to.bytes) == -1 && errno == EPERM);
  CHECK(send(receiver, "back", 4, 0) == 4 && received(sender) == "back");
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  CHECK(connect(receiver, &nobody, sizeof nobody) == 0 && send(receiver, "x", 1, 0) == -1 && errno == ENOTCONN);
  // As many wait as the receiver holds, whoever sent them.
  int sent = 0;
  while (sendto(unnamed, "x", 1, MSG_DONTWAIT, to, to.bytes) == 1) ++sent;
  CHECK(errno == EAGAIN && sent == 11);
  std::thread waits([&] { CHECK(sendto(unnamed, "last", 4, 0, to, to.bytes) == 4); });
  for (int i = 0; i < sent; ++i) CHECK(received(receiver) == "x");
  CHECK(received(receiver) == "last");
  waits.join();
  CHECK(try_connect(unnamed, "/tmp/receiver") == 0);
  close(receiver);
  CHECK(send(unnamed, "x", 1, 0) == -1 && errno == ECONNREFUSED);
  CHECK(listen(sender, 1) == -1 && errno == EOPNOTSUPP && accept(sender, nullptr, nullptr) == -1 &&
        errno == EOPNOTSUPP);
  close_all({sender, unnamed});
  unlink("/tmp/receiver");
  std::puts("datagrams know their senders");
}

int option(int socket_number, int name) {
  int value = -1;
  socklen_t room = sizeof value;
  CHECK(getsockopt(socket_number, SOL_SOCKET, name, &value, &room) == 0 && room == sizeof value);
  return value;
}
int set_option(int socket_number, int name, int value) {
  return setsockopt(socket_number, SOL_SOCKET, name, &value, sizeof value);
}

void options() {
  const int listener = bound(SOCK_STREAM, abstract);
  CHECK(option(listener, SO_ACCEPTCONN) == 0 && listen(listener, 1) == 0 && option(listener, SO_ACCEPTCONN) == 1);
  CHECK(option(listener, SO_TYPE) == SOCK_STREAM && option(listener, SO_DOMAIN) == AF_UNIX);
  CHECK(option(listener, SO_PROTOCOL) == 0 && option(listener, SO_ERROR) == 0);
  CHECK(option(listener, SO_SNDBUF) == 212992 && option(listener, SO_RCVBUF) == 212992);
  CHECK(set_option(listener, SO_SNDBUF, 10000) == 0 && option(listener, SO_SNDBUF) == 20000);
  CHECK(set_option(listener, SO_SNDBUF, 1) == 0 && option(listener, SO_SNDBUF) == 4608);
  CHECK(set_option(listener, SO_RCVBUF, 1) == 0 && option(listener, SO_RCVBUF) == 2304);
  CHECK(set_option(listener, SO_SNDBUF, 1 << 30) == 0 && option(listener, SO_SNDBUF) >= 425984);
  for (const int name : {SO_REUSEADDR, SO_KEEPALIVE, SO_BROADCAST}) {
    CHECK(option(listener, name) == 0 && set_option(listener, name, 5) == 0 && option(listener, name) == 1);
  }
  const linger wanted{1, 7};
  linger told{};
  socklen_t room = sizeof told;
  CHECK(setsockopt(listener, SOL_SOCKET, SO_LINGER, &wanted, sizeof wanted) == 0);
  CHECK(getsockopt(listener, SOL_SOCKET, SO_LINGER, &told, &room) == 0 && told.l_onoff == 1 && told.l_linger == 7);
  int value = 0;
  CHECK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &value, 2) == -1 && errno == EINVAL);
  CHECK(set_option(listener, SO_TYPE, 1) == -1 && errno == ENOPROTOOPT);
  CHECK(set_option(listener, 12345, 1) == -1 && errno == ENOPROTOOPT);
  CHECK(setsockopt(listener, IPPROTO_TCP, 1, &value, sizeof value) == -1 && errno == EOPNOTSUPP);
  CHECK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, reinterpret_cast<int*>(8), 4) == -1 && errno == EFAULT);
  CHECK(set_option(1, SO_REUSEADDR, 1) == -1 && errno == ENOTSOCK);
  CHECK(socket(AF_UNIX, SOCK_STREAM, 99) == -1 && errno == EPROTONOSUPPORT);
  CHECK(socket(AF_UNIX, SOCK_RDM, 0) == -1 && errno == ESOCKTNOSUPPORT);
  CHECK(socket(12345, SOCK_STREAM, 0) == -1 && errno == EAFNOSUPPORT);
  CHECK(socket(AF_UNIX, SOCK_STREAM | 0x100000, 0) == -1 && errno == EINVAL);
  close(listener);
  std::puts("options are Linux's");
}

void times() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const timeval soon{0, 20'000}, wrong{0, 2'000'000};
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &wrong, sizeof wrong) == -1 && errno == EDOM);
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon) == 0);
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon) == 0);
  timeval told{};
  socklen_t room = sizeof told;
  CHECK(getsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &told, &room) == 0 && told.tv_sec == 0 && told.tv_usec == 20'000);
  char byte;
  CHECK(recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN);
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
  CHECK(send(ends[1], "a", 1, 0) == 1 && read(ends[0], &byte, 1) == 1);
  const std::string much(1 << 20, 'x');
  const ssize_t sent = send(ends[0], much.data(), much.size(), 0);  // as much as fits within the time
  CHECK(sent > 0 && sent < static_cast<ssize_t>(much.size()));
  CHECK(write(ends[0], much.data(), much.size()) == -1 && errno == EAGAIN);
  close_all({ends[0], ends[1]});
  const int listener = bound(SOCK_STREAM, abstract);
  CHECK(listen(listener, 0) == 0 && setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon) == 0);
  CHECK(accept(listener, nullptr, nullptr) == -1 && errno == EAGAIN);
  const int one = connected(SOCK_STREAM, abstract), late = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(setsockopt(late, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon) == 0);
  CHECK(try_connect(late, abstract) == -1 && errno == EAGAIN);
  close_all({listener, one, late});
  std::puts("times end calls");
}

void many_messages() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  constexpr unsigned count = 5;
  char texts[count][8] = {};
  iovec pieces[count];
  mmsghdr messages[count] = {};
  for (unsigned i = 0; i < count; ++i) {
    pieces[i] = {const_cast<char*>("abcdefgh"), i + 1};
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  CHECK(sendmmsg(ends[0], messages, count, 0) == count);
  for (unsigned i = 0; i < count; ++i) CHECK(messages[i].msg_len == i + 1);
  for (unsigned i = 0; i < count; ++i) pieces[i] = {texts[i], 3};
  timespec time{10, 0};
  CHECK(recvmmsg(ends[1], messages, 2, 0, &time) == 2 && messages[0].msg_len == 1 && time.tv_sec < 10);
  CHECK(recvmmsg(ends[1], messages, count, MSG_WAITFORONE, nullptr) == 3 && messages[2].msg_len == 3);
  CHECK(messages[0].msg_hdr.msg_flags == 0 && messages[2].msg_hdr.msg_flags == MSG_TRUNC);
  CHECK(std::string(texts[2], 3) == "abc");
  CHECK(recvmmsg(ends[1], messages, count, MSG_DONTWAIT, nullptr) == -1 && errno == EAGAIN);
  // The second cannot be sent: the first was.
  messages[1].msg_hdr.msg_iov = reinterpret_cast<iovec*>(8);
  CHECK(sendmmsg(ends[0], messages, count, 0) == 1 && sendmmsg(ends[0], messages + 1, 1, 0) == -1 && errno == EFAULT);
  CHECK(sendmmsg(ends[0], messages, 0, 0) == 0);
  messages[0].msg_hdr.msg_iovlen = 2000;
  CHECK(sendmsg(ends[0], &messages[0].msg_hdr, 0) == -1 && errno == EMSGSIZE);
  close_all({ends[0], ends[1]});
  std::puts("many messages by one call");
}

void edges() {
  const int listener = bound(SOCK_STREAM | SOCK_NONBLOCK, abstract), epoll = epoll_create1(0);
  CHECK(listen(listener, 10) == 0 && epoll >= 0);
  epoll_event event{EPOLLIN | EPOLLET, {.fd = listener}}, told{};
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) == 0 && epoll_wait(epoll, &told, 1, 0) == 0);
  std::vector<int> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(connected(SOCK_STREAM, abstract));
    CHECK(epoll_wait(epoll, &told, 1, -1) == 1 && told.events == EPOLLIN && epoll_wait(epoll, &told, 1, 0) == 0);
  }
  const int server = accept(listener, nullptr, nullptr);
  CHECK(server >= 0 && epoll_wait(epoll, &told, 1, 0) == 0);
  event = {EPOLLIN | EPOLLRDHUP | EPOLLET, {.fd = server}};
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event) == 0 && epoll_wait(epoll, &told, 1, 0) == 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(send(clients[0], "ab", 2, 0) == 2);
    CHECK(epoll_wait(epoll, &told, 1, -1) == 1 && told.events == EPOLLIN && epoll_wait(epoll, &told, 1, 0) == 0);
  }
  char text[6];
  CHECK(recv(server, text, 1, 0) == 1 && epoll_wait(epoll, &told, 1, 0) == 0);  // what is left did not arrive
  CHECK(send(server, "x", 1, 0) == 1 && received(clients[0]) == "x" && epoll_wait(epoll, &told, 1, 0) == 0);
  CHECK(shutdown(clients[0], SHUT_WR) == 0 && epoll_wait(epoll, &told, 1, -1) == 1);
  CHECK(told.events == (EPOLLIN | EPOLLRDHUP) && recv(server, text, sizeof text, 0) == 5);
  CHECK(recv(server, text, sizeof text, 0) == 0);
  close(clients[0]);
  CHECK(epoll_wait(epoll, &told, 1, -1) == 1 && told.events == (EPOLLIN | EPOLLRDHUP | EPOLLHUP));
  close_all({listener, epoll, server, clients[1], clients[2]});
  std::puts("edges come with arrivals");
}

// Threads that connect, ask and go, and threads that accept, answer and close: all at once.
void serve() {
  constexpr int clients = 16, rounds = 20, servers = 3;
  const int listener = bound(SOCK_STREAM, abstract);
  CHECK(listen(listener, 2) == 0);
  std::atomic<int> served = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < servers; ++i) {
    threads.emplace_back([&] {
      while (true) {
        const int client = accept(listener, nullptr, nullptr);
        if (client < 0) break;
        char text[4];
        CHECK(recv(client, text, 4, MSG_WAITALL) == 4 && send(client, text, 4, MSG_NOSIGNAL) == 4);
        ++served;
        close(client);
      }
      CHECK(errno == EINVAL);
    });
  }
  std::vector<std::thread> askers;
  for (int i = 0; i < clients; ++i) {
    askers.emplace_back([i] {
      for (int round = 0; round < rounds; ++round) {
        const int socket_number = connected(SOCK_STREAM, abstract);
        const int asked = i * 1000 + round;
        int answer = -1;
        CHECK(send(socket_number, &asked, 4, MSG_NOSIGNAL) == 4);
        CHECK(recv(socket_number, &answer, 4, MSG_WAITALL) == 4 && answer == asked);
        close(socket_number);
      }
    });
  }
  for (std::thread& thread : askers) thread.join();
  CHECK(served == clients * rounds && shutdown(listener, SHUT_RD) == 0);
  for (std::thread& thread : threads) thread.join();
  close(listener);
  std::puts("sixteen clients were served");
}

}  // namespace

int main() {
  names();
  backlogs();
  datagrams();
  options();
  times();
  many_messages();
  edges();
  serve();
}
