// Options that every socket has: Linux's values, bounds and refusals, and values of any length.
#include "os/file/socket/socket_fixture.h"
#include "os/syscall/time_values.h"

namespace ingot::os {
namespace {

using namespace file_fixture;

class SocketOptions : public Sockets {
 protected:
  static Answer<std::int32_t> get(SocketFile& socket, std::uint32_t option) {
    std::int32_t value = -1;
    const std::size_t told =
        TRY(socket.get_option(socket_option::level, option, std::as_writable_bytes(std::span(&value, 1))));
    EXPECT_EQ(told, sizeof value);
    return value;
  }
  template <class Value>
  static Errno set(SocketFile& socket, std::uint32_t option, const Value& value) {
    const Answer<void> done = socket.set_option(socket_option::level, option, std::as_bytes(std::span(&value, 1)));
    return done.ok() ? Errno{0} : done.error();
  }
  static constexpr Errno ok{0};
};

TEST_F(SocketOptions, ASocketKnowsWhatItIs) {
  Reference<SocketFile> socket = make(SocketKind::packets);
  EXPECT_EQ(get(*socket, socket_option::type).value(), 5);
  EXPECT_EQ(get(*socket, socket_option::domain).value(), 1);
  EXPECT_EQ(get(*socket, socket_option::protocol).value(), 0);
  EXPECT_EQ(get(*socket, socket_option::accepts).value(), 0);
  EXPECT_EQ(get(*make_listening(SocketKind::stream, "/tmp/s"), socket_option::accepts).value(), 1);
  for (const std::uint32_t fixed : {socket_option::type, socket_option::domain, socket_option::protocol,
                                    socket_option::accepts, socket_option::error, 999u, ~0u}) {
    EXPECT_EQ(set(*socket, fixed, std::int32_t{1}), Errno::enoprotoopt) << fixed;
  }
  EXPECT_EQ(get(*socket, 999).error(), Errno::enoprotoopt);
  std::byte some[8]{};
  EXPECT_EQ(socket->get_option(6, 1, some).error(), Errno::eopnotsupp);  // IPPROTO_TCP
  EXPECT_EQ(socket->set_option(6, 1, some).error(), Errno::eopnotsupp);
}

TEST_F(SocketOptions, BuffersAreDoubledWithinBounds) {
  Reference<SocketFile> socket = make(SocketKind::datagrams);
  using namespace socket_option;
  EXPECT_EQ(get(*socket, send_buffer).value(), 212'992);
  const struct {
    std::uint32_t option;
    std::int32_t wanted, sent, received;
  } cases[] = {{send_buffer, 10'000, 20'000, 212'992},
               {send_buffer, 0, 4608, 212'992},
               {send_buffer, -1, 425'984, 212'992},
               {send_buffer, 1 << 30, 425'984, 212'992},
               {any_send_buffer, 1 << 20, 2 << 20, 212'992},
               {any_send_buffer, -1, 4608, 212'992},
               {receive_buffer, 1, 4608, 2304},
               {receive_buffer, 500'000, 4608, 425'984},
               {any_receive_buffer, INT32_MAX, 4608, INT32_MAX - 1}};
  for (const auto& it : cases) {
    EXPECT_EQ(set(*socket, it.option, it.wanted), ok);
    EXPECT_EQ(get(*socket, send_buffer).value(), it.sent) << it.option << ' ' << it.wanted;
    EXPECT_EQ(get(*socket, receive_buffer).value(), it.received) << it.option << ' ' << it.wanted;
  }
}

TEST_F(SocketOptions, ASmallerBufferHoldsLess) {
  SocketPair pair = make_pair(SocketKind::datagrams);
  EXPECT_EQ(set(*pair.one->as_socket(), socket_option::send_buffer, std::int32_t{2304}), ok);
  EXPECT_EQ(write(*pair.one, std::string(4577, 'x')).error(), Errno::emsgsize);
  int sent = 0;
  while (write(*pair.one, std::string(1000, 'x')).ok()) ++sent;
  EXPECT_EQ(sent, 5);
}

TEST_F(SocketOptions, SwitchesAreOnOrOff) {
  Reference<SocketFile> socket = make(SocketKind::stream);
  using namespace socket_option;
  for (const std::uint32_t option : {reuse_address, reuse_port, keep_alive, broadcast}) {
    EXPECT_EQ(get(*socket, option).value(), 0);
    EXPECT_EQ(set(*socket, option, std::int32_t{17}), ok);
    EXPECT_EQ(get(*socket, option).value(), 1);
    EXPECT_EQ(set(*socket, option, std::int32_t{0}), ok);
    EXPECT_EQ(get(*socket, option).value(), 0);
    EXPECT_EQ(set(*socket, option, std::int16_t{1}), Errno::einval);
  }
  EXPECT_EQ(set(*socket, pass_credentials, std::int32_t{1}), Errno::eopnotsupp);
  EXPECT_EQ(set(*socket, pass_credentials, std::int32_t{0}), ok);
  EXPECT_EQ(get(*socket, pass_credentials).value(), 0);
}

TEST_F(SocketOptions, LingerAndTimesAreWholeValuesOrNone) {
  Reference<SocketFile> socket = make(SocketKind::stream);
  using namespace socket_option;
  const std::int32_t lingers[] = {1, 30};
  EXPECT_EQ(set(*socket, linger, lingers), ok);
  EXPECT_EQ(set(*socket, linger, std::int32_t{1}), Errno::einval);
  std::int32_t told[3] = {7, 7, 7};
  EXPECT_EQ(socket->get_option(level, linger, std::as_writable_bytes(std::span(told))).value(), 8u);
  EXPECT_EQ(told[0], 1);
  EXPECT_EQ(told[1], 30);
  EXPECT_EQ(told[2], 7);
  const struct {
    TimeValue time;
    Errno answer;
    Nanoseconds kept;
  } cases[] = {{{2, 500'000}, ok, Nanoseconds(2'500'000'000)},
               {{0, 1'000'000}, Errno::edom, Nanoseconds(2'500'000'000)},
               {{0, -1}, Errno::edom, Nanoseconds(2'500'000'000)},
               {{-5, 0}, ok, Nanoseconds(1)},
               {{0, 0}, ok, Nanoseconds(0)}};
  for (const auto& it : cases) {
    EXPECT_EQ(set(*socket, receive_time, it.time), it.answer);
    EXPECT_EQ(socket->settings().receive_time.load(MemoryOrder::relaxed), it.kept);
  }
  EXPECT_EQ(set(*socket, send_time, std::int64_t{1}), Errno::einval);
}

TEST_F(SocketOptions, CredentialsAreThoseOfTheOneProcess) {
  struct Credentials {
    std::int32_t process;
    std::uint32_t user, group;
  } told{};
  const auto ask = [&](SocketFile& socket) {
    return socket
        .get_option(socket_option::level, socket_option::peer_credentials, std::as_writable_bytes(std::span(&told, 1)))
        .value();
  };
  EXPECT_EQ(ask(*make(SocketKind::stream)), 12u);
  EXPECT_TRUE(told.process == 0 && told.user == ~0u && told.group == ~0u);
  EXPECT_EQ(ask(*make_pair(SocketKind::datagrams).one->as_socket()), 12u);
  EXPECT_TRUE(told.process == 1 && told.user == 0 && told.group == 0);
}

TEST_F(SocketOptions, LittleRoomGetsTheFirstBytes) {
  Reference<SocketFile> socket = make(SocketKind::stream);
  for (std::size_t room = 0; room < 4; ++room) {
    std::byte bytes[4] = {std::byte{9}, std::byte{9}, std::byte{9}, std::byte{9}};
    const std::span<std::byte> part = std::span(bytes).first(room);
    EXPECT_EQ(socket->get_option(socket_option::level, socket_option::type, part).value(), room);
    EXPECT_EQ(bytes[0], room == 0 ? std::byte{9} : std::byte{1});
    EXPECT_EQ(bytes[3], std::byte{9});
  }
}

}  // namespace
}  // namespace ingot::os
