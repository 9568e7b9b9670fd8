// A pair of sockets within a program, and files copied by the kernel: Python's asyncio needs one, cp the other.
// program-test: expect stream of 200000 bytes arrived
// program-test: expect sockets end as they should
// program-test: expect messages keep their borders
// program-test: expect looks take nothing
// program-test: expect what nobody read is told
// program-test: expect copies are whole
// program-test: expect one process, and it knows
// program-test: cast --tmpfs 4M
// program-test: processors 2
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/programs/check.h"

namespace {

void stream() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  constexpr std::size_t bytes = 200'000;  // more than fits at once: the sender waits
  std::thread sender([&] {
    std::string text(bytes, 'x');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7);
    CHECK(send(ends[1], text.data(), 100, MSG_NOSIGNAL) == 100);
    iovec pieces[2] = {{text.data() + 100, 900}, {text.data() + 1000, bytes - 1000}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    CHECK(sendmsg(ends[1], &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes - 100));
    CHECK(shutdown(ends[1], SHUT_WR) == 0);
  });
  std::string got(bytes, '\0');
  CHECK(recv(ends[0], got.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes));
  for (std::size_t i = 0; i < bytes; ++i) CHECK(got[i] == static_cast<char>(i * 7));
  CHECK(read(ends[0], got.data(), 1) == 0);
  CHECK(write(ends[0], "back", 4) == 4);  // the other way is still open
  char four[4];
  CHECK(recv(ends[1], four, 4, 0) == 4 && std::string(four, 4) == "back");
  sender.join();
  close(ends[0]);
  close(ends[1]);
  std::printf("stream of %zu bytes arrived\n", bytes);
}

void ends_and_refusals() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  char byte;
  CHECK(recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN);
  pollfd look{ends[0], POLLIN | POLLOUT, 0};
  CHECK(poll(&look, 1, 0) == 1 && look.revents == POLLOUT);
  CHECK(send(ends[1], "a", 1, 0) == 1);
  CHECK(poll(&look, 1, -1) == 1 && look.revents == (POLLIN | POLLOUT));
  int value = -1;
  socklen_t room = sizeof value;
  CHECK(getsockopt(ends[0], SOL_SOCKET, SO_TYPE, &value, &room) == 0 && value == SOCK_STREAM);
  CHECK(getsockopt(ends[0], SOL_SOCKET, SO_ERROR, &value, &room) == 0 && value == 0);
  CHECK(recv(ends[0], &byte, 1, MSG_OOB) == -1 && errno == EOPNOTSUPP);  // refused, not passed over
  close(ends[1]);
  CHECK(recv(ends[0], &byte, 1, 0) == 1 && byte == 'a');
  CHECK(recv(ends[0], &byte, 1, 0) == 0);
  CHECK(poll(&look, 1, 0) == 1 && (look.revents & POLLHUP) != 0);
  CHECK(send(ends[0], "a", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
  static volatile sig_atomic_t told = 0;
  std::signal(SIGPIPE, [](int) { told = told + 1; });
  CHECK(send(ends[0], "a", 1, 0) == -1 && errno == EPIPE && told == 1);
  close(ends[0]);
  CHECK(socketpair(AF_INET, SOCK_STREAM, 0, ends) == -1 && errno == EAFNOSUPPORT);
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET}) {  // that this kernel has not
    CHECK(socket(family, SOCK_RAW, 0) == -1 && errno == EAFNOSUPPORT);
  }
  CHECK(socketpair(AF_UNIX, SOCK_RDM, 0, ends) == -1 && errno == ESOCKTNOSUPPORT);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, reinterpret_cast<int*>(8)) == -1 && errno == EFAULT);
  CHECK(send(1, "a", 1, 0) == -1 && errno == ENOTSOCK);
  std::puts("sockets end as they should");
}

void messages() {
  for (const int type : {SOCK_DGRAM, SOCK_SEQPACKET}) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, type, 0, ends) == 0);
    int value = -1;
    socklen_t room = sizeof value;
    CHECK(getsockopt(ends[0], SOL_SOCKET, SO_TYPE, &value, &room) == 0 && value == type);
    std::thread sender([&] {
      CHECK(send(ends[1], "first", 5, 0) == 5 && write(ends[1], "", 0) == 0);
      iovec pieces[2] = {{const_cast<char*>("se"), 2}, {const_cast<char*>("cond"), 4}};
      CHECK(writev(ends[1], pieces, 2) == 6 && send(ends[1], "third", 5, 0) == 5);
    });
    char text[16];
    CHECK(recv(ends[0], text, sizeof text, MSG_WAITALL) == 5 && std::string(text, 5) == "first");
    CHECK(recv(ends[0], text, sizeof text, 0) == 0);
    iovec small{text, 3};
    msghdr message{};
    message.msg_iov = &small;
    message.msg_iovlen = 1;
    CHECK(recvmsg(ends[0], &message, 0) == 3 && message.msg_flags == MSG_TRUNC && std::string(text, 3) == "sec");
    CHECK(recv(ends[0], text, 1, MSG_TRUNC) == 5);
    sender.join();
    CHECK(recv(ends[0], text, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    const std::string huge(300'000, 'x');
    CHECK(send(ends[0], huge.data(), huge.size(), 0) == -1 && errno == EMSGSIZE);
    close(ends[1]);
    if (type == SOCK_SEQPACKET) {
      CHECK(recv(ends[0], text, 1, 0) == 0);
      CHECK(send(ends[0], "x", 1, 0) == -1 && errno == EPIPE);  // and no signal
    } else {
      CHECK(send(ends[0], "x", 1, 0) == -1 && errno == ECONNREFUSED);
      CHECK(send(ends[0], "x", 1, 0) == -1 && errno == ENOTCONN);
    }
    close(ends[0]);
  }
  std::puts("messages keep their borders");
}

void looks() {
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
    int ends[2], waiting = 0;
    CHECK(socketpair(AF_UNIX, type, 0, ends) == 0);
    char text[16];
    CHECK(recv(ends[0], text, sizeof text, MSG_PEEK | MSG_DONTWAIT) == -1 && errno == EAGAIN);
    CHECK(send(ends[1], "first", 5, 0) == 5 && send(ends[1], "second", 6, 0) == 6);
    const std::string expected = type == SOCK_STREAM ? "firstsecond" : "first";
    for (int i = 0; i < 2; ++i) {
      CHECK(recv(ends[0], text, sizeof text, MSG_PEEK) == static_cast<ssize_t>(expected.size()));
      CHECK(std::string(text, expected.size()) == expected);
      CHECK(recv(ends[0], text, 2, MSG_PEEK) == 2 && std::string(text, 2) == "fi");
    }
    CHECK(ioctl(ends[0], FIONREAD, &waiting) == 0 && waiting == (type == SOCK_DGRAM ? 5 : 11));
    CHECK(recv(ends[0], text, 5, 0) == 5 && recv(ends[0], text, 6, MSG_WAITALL) == 6);
    CHECK(std::string(text, 6) == "second");
    close(ends[0]);
    close(ends[1]);
  }
  std::puts("looks take nothing");
}

void resets() {
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
    for (const bool by_option : {false, true}) {
      int ends[2], value = -1;
      char text[16];
      socklen_t room = sizeof value;
      CHECK(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, ends) == 0);
      CHECK(send(ends[0], "unread", 6, 0) == 6 && send(ends[1], "back", 4, 0) == 4);
      close(ends[1]);
      const bool is_told = type != SOCK_DGRAM;
      pollfd look{ends[0], POLLIN, 0};
      CHECK(poll(&look, 1, 0) == 1 && ((look.revents & POLLERR) != 0) == is_told);
      if (by_option) CHECK(getsockopt(ends[0], SOL_SOCKET, SO_ERROR, &value, &room) == 0);
      if (by_option) CHECK(value == (is_told ? ECONNRESET : 0));
      const bool comes_first = type == SOCK_SEQPACKET && !by_option, comes_last = type == SOCK_STREAM && !by_option;
      if (comes_first) CHECK(recv(ends[0], text, sizeof text, 0) == -1 && errno == ECONNRESET);
      CHECK(recv(ends[0], text, sizeof text, 0) == 4 && std::string(text, 4) == "back");
      if (comes_last) CHECK(recv(ends[0], text, sizeof text, 0) == -1 && errno == ECONNRESET);
      if (is_told) CHECK(recv(ends[0], text, sizeof text, 0) == 0);
      close(ends[0]);
    }
  }
  std::puts("what nobody read is told");
}

void copies() {
  const int self = open("/proc/self/exe", O_RDONLY), copy = open("/tmp/copy", O_RDWR | O_CREAT, 0600);
  CHECK(self >= 0 && copy >= 0);
  const off_t bytes = lseek(self, 0, SEEK_END);
  off_t from = 0;
  CHECK(sendfile(copy, self, &from, 1000) == 1000 && from == 1000);
  CHECK(sendfile(copy, self, &from, static_cast<std::size_t>(bytes)) == bytes - 1000 && from == bytes);
  std::string one(static_cast<std::size_t>(bytes), '1'), other(static_cast<std::size_t>(bytes), '2');
  CHECK(pread(self, one.data(), one.size(), 0) == bytes && pread(copy, other.data(), other.size(), 0) == bytes);
  CHECK(one == other);
  off_t to = 10;
  from = 4;
  CHECK(copy_file_range(self, &from, copy, &to, 6, 0) == 6 && from == 10 && to == 16);
  CHECK(pread(copy, other.data(), 16, 0) == 16 && other.substr(10, 6) == one.substr(4, 6));
  int pipe_ends[2];
  CHECK(pipe2(pipe_ends, O_NONBLOCK) == 0);
  lseek(self, 0, SEEK_SET);
  CHECK(sendfile(pipe_ends[1], self, nullptr, 1 << 20) == 65536);  // as much as fits
  CHECK(lseek(self, 0, SEEK_CUR) == 65536);                        // and no more is gone from the file
  CHECK(sendfile(pipe_ends[1], self, nullptr, 1) == -1 && errno == EAGAIN);
  CHECK(sendfile(copy, pipe_ends[0], nullptr, 1) == -1 && errno == EINVAL);
  close(pipe_ends[0]);
  static volatile sig_atomic_t told = 0;
  std::signal(SIGPIPE, [](int) { told = told + 1; });
  CHECK(sendfile(pipe_ends[1], self, nullptr, 1) == -1 && errno == EPIPE && told == 1);
  iovec piece{one.data(), 8};
  CHECK(preadv2(copy, &piece, 1, 4, 0) == 8 && std::memcmp(one.data(), other.data() + 4, 8) == 0);
  CHECK(preadv2(copy, &piece, 1, 4, RWF_NOWAIT) == -1 && errno == EOPNOTSUPP);
  CHECK(mknod("/tmp/empty", S_IFREG | 0600, 0) == 0 && access("/tmp/empty", R_OK) == 0);
  CHECK(mkfifo("/tmp/fifo", 0600) == -1 && errno == EPERM);
  CHECK(getxattr("/tmp/copy", "user.x", nullptr, 0) == -1 && errno == EOPNOTSUPP);
  std::puts("copies are whole");
}

void alone() {
  CHECK(getpgrp() == getpid() && getsid(0) == getpid() && getpgid(12345) == -1 && errno == ESRCH);
  CHECK(setsid() == -1 && errno == EPERM);
  CHECK(waitpid(-1, nullptr, 0) == -1 && errno == ECHILD);
  gid_t groups[4];
  CHECK(getgroups(4, groups) == 0);
  errno = 0;
  CHECK(getpriority(PRIO_PROCESS, 0) == 0 && errno == 0);
  CHECK(sched_getscheduler(0) == SCHED_OTHER && sched_get_priority_max(SCHED_FIFO) == 99);
  CHECK(sched_getscheduler(-1) == -1 && errno == EINVAL);
  CHECK(setuid(0) == 0 && setuid(1000) == -1 && errno == EPERM);
  CHECK(setresgid(static_cast<gid_t>(-1), 0, 5) == -1 && errno == EPERM);
  rlimit limit{};
  CHECK(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == 8 << 20);
  std::puts("one process, and it knows");
}

}  // namespace

int main() {
  stream();
  ends_and_refusals();
  messages();
  looks();
  resets();
  copies();
  alone();
}
