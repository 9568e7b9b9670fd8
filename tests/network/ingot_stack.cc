#include "tests/network/ingot_stack.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "os/network/socket/datagram_socket.h"
#include "os/network/socket/internet_address.h"
#include "os/network/socket/stream_socket.h"

namespace ingot::network_scripts {
namespace {

using os::Errno;
using os::network::Configuration;
using os::network::DatagramSocket;
using os::network::Stack;
using os::network::StreamSocket;
using os::network::TcpRow;
using os::network::TcpState;

constexpr Microseconds until_addresses_are_ours = 10'000'000;
constexpr std::uint8_t v4_prefix = 16, v6_prefix = 64;

os::SocketAddress spelled(const Endpoint& endpoint, const os::SocketFile& socket) {
  os::SocketAddress address;
  os::network::write_endpoint(endpoint, socket.sort().family, address);
  return address;
}

// A program's memory that is not there.
class Nowhere final : public os::TransferMemory {
 public:
  std::size_t copy_out(std::uint64_t, std::span<const std::byte>) override { return 0; }
  std::size_t copy_in(std::span<std::byte>, std::uint64_t) override { return 0; }
};

// What is read into or written from a message's bytes.
class MessageTransfer {
 public:
  explicit MessageTransfer(const Message& message)
      : piece_{reinterpret_cast<std::uintptr_t>(message.bytes.data()), message.bytes.size()},
        transfer_(message.is_nowhere ? static_cast<os::TransferMemory&>(nowhere_) : there_, {&piece_, 1}) {}
  os::Transfer& get() { return transfer_; }

 private:
  Nowhere nowhere_;
  os::KernelTransferMemory there_;
  os::TransferPiece piece_;
  os::Transfer transfer_;
};

std::optional<TcpState> state_named(std::string_view name) {
  constexpr std::pair<std::string_view, TcpState> names[] = {
      {"ESTABLISHED", TcpState::established}, {"SYN_SENT", TcpState::syn_sent},
      {"SYN_RCVD", TcpState::syn_received},   {"FIN_WAIT_1", TcpState::fin_wait_1},
      {"FIN_WAIT_2", TcpState::fin_wait_2},   {"TIME_WAIT", TcpState::time_wait},
      {"CLOSED", TcpState::closed},           {"CLOSE_WAIT", TcpState::close_wait},
      {"LAST_ACK", TcpState::last_ack},       {"LISTEN", TcpState::listen},
      {"CLOSING", TcpState::closing},
  };
  for (const auto& [known, state] : names) {
    if (known == name) return state;
  }
  return std::nullopt;
}

}  // namespace

IngotStack::IngotStack(const Environment& place) : link_(machine_, place) {
  Configuration wanted;
  wanted.asks_routers = wanted.asks_dhcp = place.asks;
  wanted.addresses.push_back({place.local, place.local.is_v4() ? v4_prefix : v6_prefix});
  wanted.gateways.push_back(place.gateway);
  stack_.drive([&](Stack& stack) { stack.add(link_, wanted).value(); });
  settle();
  advance(now() + until_addresses_are_ours);
  link_.sent.clear();
}

std::optional<Microseconds> IngotStack::next_timer() const {
  if (machine_.wake == IngotMachine::never) return std::nullopt;
  return (machine_.wake.count() + 999) / 1000;
}

void IngotStack::advance(Microseconds time) {
  const Nanoseconds end(time * 1000);
  while (machine_.wake <= end) {
    machine_.time = std::max(machine_.time, std::exchange(machine_.wake, IngotMachine::never));
    stack_.drive([](Stack& stack) { stack.run_timers(); });
    settle();
  }
  machine_.time = std::max(machine_.time, end);
}

void IngotStack::settle() {
  while (!link_.answers.empty()) {
    os::network::Received packet = machine_.packet(link_.answers.front());
    link_.answers.pop_front();
    stack_.drive([&](Stack& stack) { stack.received(link_, {&packet, 1}); });
  }
}

void IngotStack::receive(std::span<const std::uint8_t> bytes) {
  link_.answers.push_back(link_.frame(bytes));
  settle();
}

std::optional<SentPacket> IngotStack::take_sent() {
  if (link_.sent.empty()) return std::nullopt;
  SentPacket packet = std::move(link_.sent.front());
  link_.sent.pop_front();
  return packet;
}

int IngotStack::add(os::Reference<os::SocketFile> file) {
  sockets_[next_descriptor_] = std::make_unique<Socket>(std::move(file));
  return next_descriptor_++;
}

std::int64_t IngotStack::socket(int family, int type, int) {
  const auto number = static_cast<std::uint16_t>(family);
  if (type != SOCK_STREAM && type != SOCK_DGRAM) return -static_cast<std::int64_t>(Errno::esocktnosupport);
  auto made = type == SOCK_STREAM ? StreamSocket::create(stack_, services_, number, 0)
                                  : DatagramSocket::create(stack_, services_, number, 0);
  if (!made.ok()) return -static_cast<std::int64_t>(made.error());
  return add(std::move(made).value());
}

std::int64_t IngotStack::bind(int descriptor, const Endpoint& address) {
  return with(descriptor, [&](Socket& socket) { return socket.file->bind(spelled(address, *socket.file)); });
}

std::int64_t IngotStack::listen(int descriptor, int backlog) {
  return with(descriptor, [&](Socket& socket) { return socket.file->listen(static_cast<std::uint32_t>(backlog)); });
}

std::int64_t IngotStack::accept(int descriptor) {
  return with(descriptor, [&](Socket& socket) -> os::Answer<int> {
    const int accepted = add(TRY(socket.file->accept(0)));
    os::SocketAddress peer;
    Socket& made = *sockets_[accepted];
    // One that was reset meanwhile has no peer to tell of.
    if (made.file->tell_peers_name(peer).ok()) {
      made.remote = os::network::read_endpoint(peer, made.file->sort().family).value();
    }
    return accepted;
  });
}

std::int64_t IngotStack::connect(int descriptor, const Endpoint& address) {
  return with(descriptor, [&](Socket& socket) {
    const os::Answer<void> answer = socket.file->connect(spelled(address, *socket.file));
    if (answer.ok() || answer.error() == Errno::einprogress) socket.remote = address;
    return answer;
  });
}

std::int64_t IngotStack::send(int descriptor, const Message& message, const Endpoint* to) {
  return with(descriptor, [&](Socket& socket) {
    MessageTransfer transfer(message);
    const os::SocketAddress address = to != nullptr ? spelled(*to, *socket.file) : os::SocketAddress();
    return socket.file->send(transfer.get(), {to != nullptr ? &address : nullptr, (message.flags & MSG_MORE) != 0});
  });
}

std::int64_t IngotStack::receive(int descriptor, Message& message) {
  return with(descriptor, [&](Socket& socket) -> os::Answer<std::size_t> {
    const int flags = std::exchange(message.flags, 0);
    if ((flags & MSG_ERRQUEUE) != 0) return Errno::eagain;
    message.bytes.resize(message.capacity);
    MessageTransfer transfer(message);
    const auto reading = (flags & MSG_PEEK) != 0 ? os::Reading::looks : os::Reading::takes;
    return TRY(socket.file->receive(transfer.get(), {reading, nullptr})).moved;
  });
}

std::int64_t IngotStack::shutdown(int descriptor, int how) {
  constexpr std::array directions = {os::SocketFile::Direction::receiving, os::SocketFile::Direction::sending,
                                     os::SocketFile::Direction::both};
  if (how < SHUT_RD || how > SHUT_RDWR) return -static_cast<std::int64_t>(Errno::einval);
  const auto direction = directions[static_cast<std::size_t>(how)];
  return with(descriptor, [&](Socket& socket) { return socket.file->shut_down(direction); });
}

std::int64_t IngotStack::close(int descriptor) {
  return with(descriptor, [&](Socket&) -> os::Answer<void> {
    sockets_.erase(descriptor);
    return {};
  });
}

std::uint32_t IngotStack::ready(int descriptor) {
  constexpr std::uint32_t told = POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP | POLLPRI;
  const auto found = sockets_.find(descriptor);
  return found == sockets_.end() ? POLLNVAL : found->second->file->poll() & told;
}

std::optional<Endpoint> IngotStack::remote_of(int descriptor) const {
  const auto found = sockets_.find(descriptor);
  return found == sockets_.end() ? std::nullopt : found->second->remote;
}

std::uint64_t IngotStack::times_told(int descriptor) {
  const auto found = sockets_.find(descriptor);
  return found == sockets_.end() ? 0 : found->second->told;
}

Endpoint IngotStack::own_name(const Socket& socket) {
  os::SocketAddress address;
  socket.file->tell_own_name(address).value();
  return os::network::read_endpoint(address, socket.file->sort().family).value();
}

std::optional<int> IngotStack::count_in_state(std::string_view name, bool owned) {
  const std::optional<TcpState> state = state_named(name);
  if (!state) return std::nullopt;
  std::vector<os::network::Flow> ours;
  for (const auto& [descriptor, socket] : sockets_) {
    if (socket->remote) ours.push_back({own_name(*socket), *socket->remote});
  }
  int count = 0, alive = 0;
  stack_.drive([&](Stack& stack) {
    stack.tcp().visit([&](const TcpRow& row) {
      const bool is_ours = std::ranges::find(ours, row.flow) != ours.end();
      alive += is_ours;
      count += row.state == *state && (!owned || is_ours);
    });
  });
  // FreeBSD shows sockets whose connection has ended, until they are closed.
  return *state == TcpState::closed ? static_cast<int>(ours.size()) - alive : count;
}

}  // namespace ingot::network_scripts
