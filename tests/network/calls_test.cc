// Calls that the runner makes of several questions to the stack: waiting, and messages with what is attached to them.
#include "tests/network/calls.h"

#include <gtest/gtest.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>

#include "tests/network/replaying_stack.h"
#include "tests/network/runner.h"
#include "tests/network/script_reader.h"

namespace ingot::network_scripts {
namespace {

// Its socket can be written to from the beginning, and read from one second on; it tells of that, and of nothing else.
class WatchedStack final : public ReplayingStack {
 public:
  using ReplayingStack::ReplayingStack;

  std::optional<Microseconds> next_timer() const override {
    return now() < 1'000'000 ? std::optional<Microseconds>(1'000'000) : std::nullopt;
  }
  std::uint32_t ready(int) override { return now() < 1'000'000 ? POLLOUT : POLLOUT | POLLIN; }
  std::uint64_t times_told(int) override { return now() < 1'000'000 ? 0 : 1; }
};

std::string watch(std::string_view text) {
  const Result<Script> script = read_script("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 4\n" + std::string(text));
  if (!script.ok()) return std::string(script.error().text());
  const Verdict verdict = run_script(script.value(), [&](const Environment& place) {
    return std::make_unique<WatchedStack>(script.value(), place, ReplayChanges{});
  });
  return verdict.kind == Verdict::Kind::passed ? "passed" : verdict.reason;
}

TEST(Calls, Poll) {
  EXPECT_EQ(watch("+0 poll([{fd=4, events=POLLOUT|POLLIN, revents=POLLOUT}], 1, 0) = 1"), "passed");
  EXPECT_EQ(watch("+0 poll([{fd=4, events=POLLOUT, revents=0}], 1, 0) = 1"), "poll reported the events 4, expected 0");
  EXPECT_EQ(watch("+0...1.0 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 3000) = 1\n2 `../common/defaults.sh`"),
            "passed");
  EXPECT_EQ(watch("+0...0.3 poll([{fd=4, events=POLLIN, revents=0}], 1, 300) = 0"), "passed");
  EXPECT_EQ(watch("+0 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 3000) = 1"), "poll still blocks at 0.004000 s");
  EXPECT_EQ(watch("+0...0.5 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 3000) = 1\n2 `../common/defaults.sh`"),
            "the call was expected to return at 0.500000 s and did at 1.000000 s");
}

TEST(Calls, WatchByLevelAndEdge) {
  const std::string add = "+0 epoll_create(1) = 5\n+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLOUT|EPOLLIN";
  const std::string wait = "+0 epoll_wait(5, {events=EPOLLOUT, fd=4}, 1, 0) = 1\n";
  const std::string none = "+0 epoll_wait(5, {events=0, ptr=0}, 1, 0) = 0\n";
  const std::string both = "1.1 epoll_wait(5, {events=EPOLLIN|EPOLLOUT, fd=4}, 1, 0) = 1\n";
  EXPECT_EQ(watch(add + ", fd=4}) = 0\n" + wait + wait + both), "passed");
  EXPECT_EQ(watch(add + "|EPOLLET, fd=4}) = 0\n" + wait + none + both + none), "passed");
  EXPECT_EQ(watch(add + "|EPOLLET, fd=4}) = 0\n" + wait + wait), "epoll_wait reported the events 0, expected 4");
  EXPECT_EQ(watch(add + "|EPOLLONESHOT, fd=4}) = 0\n" + wait + none + "1.1 `../common/defaults.sh`\n" + none +
                  "+0 epoll_ctl(5, EPOLL_CTL_MOD, 4, {events=EPOLLIN|EPOLLONESHOT, fd=4}) = 0\n" +
                  "+0 epoll_wait(5, {events=EPOLLIN, fd=4}, 1, 0) = 1\n"),
            "passed");
  EXPECT_EQ(watch("+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN, fd=4}) = -1 EBADF (Bad file descriptor)"),
            "passed");
}

Expression message_of(std::string_view text) {
  Result<Script> script = read_script("0 recvmsg(4, " + std::string(text) + ", 0) = 0");
  EXPECT_TRUE(script.ok()) << script.error().text();
  return script.ok() ? std::get<CallLine>(script.value().events[0].action).arguments[1] : Expression();
}

TEST(Messages, AreComparedWithWhatIsAttached) {
  const Expression expected = message_of(
      "{msg_name(...)=..., msg_iov(2)=[{...,1000},{...,24}], msg_flags=MSG_ERRQUEUE,"
      " msg_control=[{cmsg_level=CMSG_LEVEL_IP, cmsg_type=CMSG_TYPE_RECVERR,"
      " cmsg_data={ee_errno=0, ee_origin=SO_EE_ORIGIN_ZEROCOPY, ee_type=0, ee_code=SO_EE_CODE_ZEROCOPY_COPIED,"
      " ee_info=0, ee_data=2}}]}");
  EXPECT_EQ(vector_bytes(expected).value(), 1024);
  sock_extended_err error{};
  error.ee_origin = SO_EE_ORIGIN_ZEROCOPY;
  error.ee_code = SO_EE_CODE_ZEROCOPY_COPIED;
  error.ee_data = 2;
  Message message;
  message.flags = MSG_ERRQUEUE;
  message.control.push_back({0, 11, Bytes(sizeof(error))});  // SOL_IP, IP_RECVERR
  std::memcpy(message.control[0].bytes.data(), &error, sizeof(error));
  EXPECT_TRUE(check_message(expected, message).ok());
  message.control[0].bytes[offsetof(sock_extended_err, ee_data)] = 3;
  EXPECT_EQ(check_message(expected, message).error().text(), "the message's ee_data is 3, expected 2");
  message.control[0].type = 12;
  EXPECT_EQ(check_message(expected, message).error().text(), "the message's cmsg_type is 12, expected 11");
  message.control.clear();
  EXPECT_FALSE(check_message(expected, message).ok());
  message.flags = 0;
  EXPECT_EQ(check_message(expected, message).error().text(), "the message's msg_flags is 0, expected 8192");
}

TEST(Messages, MayCarryANumber) {
  const Expression expected = message_of(
      "{msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0,"
      " msg_control=[{cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, cmsg_data=9000}]}");
  Message message;
  message.control.push_back({6, 36, Bytes{0x28, 0x23, 0, 0}});
  EXPECT_TRUE(check_message(expected, message).ok());
  message.control[0].bytes[0] = 0;
  EXPECT_FALSE(check_message(expected, message).ok());
}

}  // namespace
}  // namespace ingot::network_scripts
