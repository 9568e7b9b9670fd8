// StackUnderTest: what a script asks of a TCP stack. Time stands until advance(); no call blocks; errors are those of
// Linux, negative.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/network/profile.h"
#include "tests/network/wire_packet.h"

namespace ingot::network_scripts {

// Where the stack stands in the network.
struct Environment {
  IpAddress local, remote, gateway;
  std::uint16_t mtu = 1500;
  bool asks = false;  // for further addresses, of routers and of DHCP
};

struct SentPacket {
  Microseconds time = 0;
  Bytes bytes;
};

struct ControlMessage {
  int level = 0;
  int type = 0;
  Bytes bytes;
};

struct Message {
  std::size_t capacity = 0;  // of what is read
  Bytes bytes;               // read, or to be sent
  bool is_nowhere = false;   // the program's memory is not there: EFAULT where a byte would be moved
  int flags = 0;             // of the call; of one that reads, afterwards those of the message
  std::vector<ControlMessage> control;
};

// Options of TCP that FreeBSD has and Linux does not, under numbers of our own.
inline constexpr int freebsd_connect_timeout = 0x10080, freebsd_no_options = 0x10008;  // TCP_KEEPINIT, TCP_NOOPT

class StackUnderTest {
 public:
  virtual ~StackUnderTest() = default;

  // What it cannot hold, by name; empty where it holds all. Called before anything else, and again when a script
  // changes a setting.
  virtual std::string configure(const Profile& profile) = 0;

  virtual Microseconds now() const = 0;
  // Of the earliest timer that is set.
  virtual std::optional<Microseconds> next_timer() const = 0;
  // Precondition: not before now(). Timers that are due until then run in their order.
  virtual void advance(Microseconds time) = 0;
  virtual void receive(std::span<const std::uint8_t> packet) = 0;
  // The oldest that was not taken.
  virtual std::optional<SentPacket> take_sent() = 0;

  // A descriptor, a count or 0; else -errno. EAGAIN and EINPROGRESS where Linux would block.
  virtual std::int64_t socket(int family, int type, int protocol) = 0;
  virtual std::int64_t bind(int descriptor, const Endpoint& address) = 0;
  virtual std::int64_t listen(int descriptor, int backlog) = 0;
  virtual std::int64_t accept(int descriptor) = 0;
  virtual std::int64_t connect(int descriptor, const Endpoint& address) = 0;
  virtual std::int64_t send(int descriptor, const Message& message, const Endpoint* to) = 0;
  virtual std::int64_t receive(int descriptor, Message& message) = 0;
  virtual std::int64_t shutdown(int descriptor, int how) = 0;
  virtual std::int64_t close(int descriptor) = 0;
  virtual std::int64_t set_option(int descriptor, int level, int name, std::span<const std::uint8_t> value) = 0;
  // The value's size; it is cut to the room.
  virtual std::int64_t get_option(int descriptor, int level, int name, std::span<std::uint8_t> value) = 0;
  // ioctl, where its argument points to a number.
  virtual std::int64_t control(int descriptor, std::uint64_t request, int& number) = 0;
  // POLLIN and so on that hold now; POLLNVAL for no socket.
  virtual std::uint32_t ready(int descriptor) = 0;
  // How often those who wait for the socket were told of something new.
  virtual std::uint64_t times_told(int descriptor) = 0;

  // Connections in a state as FreeBSD's sockstat names it (TIME_WAIT, SYN_RCVD, CLOSED): `owned` are those of an open
  // descriptor. Nothing: the state's name is unknown.
  virtual std::optional<int> count_in_state(std::string_view state, bool owned) = 0;
  virtual void drop_in_state(std::string_view state) = 0;
};

using StackFactory = std::function<std::unique_ptr<StackUnderTest>(const Environment&)>;

}  // namespace ingot::network_scripts
