#include "tests/network/ingot_stack.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace ingot::network_scripts {
namespace {

using os::Errno;
using os::network::Configuration;
using os::network::IpVersion;
using os::network::TcpRow;
using os::network::TcpState;

constexpr Microseconds until_addresses_are_ours = 10'000'000;
constexpr std::uint8_t v4_prefix = 16, v6_prefix = 64;

std::int64_t failure(Errno error) { return -static_cast<std::int64_t>(error); }

template <class Value>
std::int64_t outcome_of(const os::Answer<Value>& answer) {
  return answer.ok() ? 0 : failure(answer.error());
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
  wanted.asks_routers = false;
  wanted.addresses.push_back({place.local, place.local.is_v4() ? v4_prefix : v6_prefix});
  wanted.gateways.push_back(place.gateway);
  stack_.add(link_, wanted).value();
  settle();
  advance(now() + until_addresses_are_ours);
  link_.sent.clear();
}

IngotStack::~IngotStack() {
  for (auto& [descriptor, socket] : sockets_) end(*socket);
}

std::optional<Microseconds> IngotStack::next_timer() const {
  if (machine_.wake == IngotMachine::never) return std::nullopt;
  return (machine_.wake.count() + 999) / 1000;
}

void IngotStack::advance(Microseconds time) {
  const Nanoseconds end(time * 1000);
  while (machine_.wake <= end) {
    machine_.time = std::max(machine_.time, std::exchange(machine_.wake, IngotMachine::never));
    stack_.run_timers();
    settle();
  }
  machine_.time = std::max(machine_.time, end);
}

void IngotStack::settle() {
  stack_.finish();
  while (!link_.answers.empty()) {
    os::network::Received packet = machine_.packet(link_.answers.front());
    link_.answers.pop_front();
    stack_.received(link_, {&packet, 1});
  }
}

void IngotStack::receive(std::span<const std::uint8_t> bytes) {
  os::network::Received packet = machine_.packet(link_.frame(bytes));
  stack_.received(link_, {&packet, 1});
  settle();
}

std::optional<SentPacket> IngotStack::take_sent() {
  if (link_.sent.empty()) return std::nullopt;
  SentPacket packet = std::move(link_.sent.front());
  link_.sent.pop_front();
  return packet;
}

IngotStack::Socket* IngotStack::find(int descriptor) {
  const auto found = sockets_.find(descriptor);
  return found == sockets_.end() ? nullptr : found->second.get();
}

int IngotStack::add(std::unique_ptr<Socket> socket) {
  sockets_[next_descriptor_] = std::move(socket);
  return next_descriptor_++;
}

std::int64_t IngotStack::socket(int family, int type, int) {
  if (type != SOCK_STREAM) return failure(Errno::esocktnosupport);
  return add(std::make_unique<Socket>(family == AF_INET ? IpVersion::v4 : IpVersion::v6));
}

std::int64_t IngotStack::bind(int descriptor, const Endpoint& address) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return failure(Errno::ebadf);
  return outcome_of(tcp_.ports().bind(socket->binding, address));
}

std::int64_t IngotStack::listen(int descriptor, int backlog) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return failure(Errno::ebadf);
  if (socket->connection) return failure(Errno::einval);
  if (!socket->listener) {
    auto listener = tcp_.listen(socket->binding, static_cast<std::uint32_t>(backlog), socket->options, *socket);
    if (!listener.ok()) return failure(listener.error());
    socket->listener = std::move(listener).value();
  }
  socket->listener->set_backlog(static_cast<std::uint32_t>(backlog));
  return 0;
}

std::int64_t IngotStack::accept(int descriptor) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return failure(Errno::ebadf);
  if (!socket->listener) return failure(Errno::einval);
  auto connection = socket->listener->accept();
  if (!connection.ok()) return failure(connection.error());
  auto accepted = std::make_unique<Socket>(connection.value()->local().address.version());
  accepted->connection = std::move(connection).value();
  accepted->connection->set_events(accepted.get());
  return add(std::move(accepted));
}

std::int64_t IngotStack::connect(int descriptor, const Endpoint& address) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return failure(Errno::ebadf);
  if (socket->connection || socket->listener) return failure(Errno::eisconn);
  auto connection = tcp_.connect(socket->binding, address, socket->options, *socket, machine_.time);
  if (!connection.ok()) return failure(connection.error());
  socket->connection = std::move(connection).value();
  settle();
  return failure(Errno::einprogress);
}

std::int64_t IngotStack::send(int descriptor, const Message& message, const Endpoint*) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return failure(Errno::ebadf);
  if (!socket->connection) return failure(Errno::epipe);
  MessageTransfer transfer(message);
  const auto moved = socket->connection->send(transfer.get(), (message.flags & MSG_MORE) != 0, machine_.time);
  settle();
  return moved.ok() ? static_cast<std::int64_t>(moved.value()) : failure(moved.error());
}

std::int64_t IngotStack::receive(int descriptor, Message& message) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return failure(Errno::ebadf);
  if ((message.flags & MSG_ERRQUEUE) != 0) return failure(Errno::eagain);
  if (!socket->connection) return failure(Errno::enotconn);
  message.bytes.resize(message.capacity);
  MessageTransfer transfer(message);
  const bool looks = (message.flags & MSG_PEEK) != 0;
  const auto moved =
      socket->connection->receive(transfer.get(), looks ? os::Reading::looks : os::Reading::takes, machine_.time);
  settle();
  message.flags = 0;
  return moved.ok() ? static_cast<std::int64_t>(moved.value()) : failure(moved.error());
}

std::int64_t IngotStack::shutdown(int descriptor, int how) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return failure(Errno::ebadf);
  if (!socket->connection) return failure(Errno::enotconn);
  const std::int64_t result = outcome_of(socket->connection->shut_down(how != SHUT_WR, how != SHUT_RD, machine_.time));
  settle();
  return result;
}

void IngotStack::end(Socket& socket) {
  if (socket.connection) {
    socket.connection->set_events(nullptr);
    socket.connection->close(machine_.time);
    socket.connection.reset();
  }
  socket.listener.reset();
  tcp_.ports().release(socket.binding);
}

std::int64_t IngotStack::close(int descriptor) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return failure(Errno::ebadf);
  end(*socket);
  sockets_.erase(descriptor);
  settle();
  return 0;
}

std::uint32_t IngotStack::ready(int descriptor) {
  constexpr std::uint32_t told = POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP | POLLPRI;
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return POLLNVAL;
  if (socket->connection) return socket->connection->events() & told;
  return socket->listener ? socket->listener->events() & told : POLLOUT | POLLHUP;
}

std::uint64_t IngotStack::times_told(int descriptor) {
  Socket* const socket = find(descriptor);
  return socket == nullptr ? 0 : socket->told;
}

std::optional<int> IngotStack::count_in_state(std::string_view name, bool owned) {
  const std::optional<TcpState> state = state_named(name);
  if (!state) return std::nullopt;
  const auto is_owned = [&](const os::network::Flow& flow) {
    return std::ranges::any_of(sockets_, [&](const auto& entry) {
      const auto& connection = entry.second->connection;
      return connection && connection->local() == flow.local && connection->remote() == flow.remote;
    });
  };
  int count = 0, alive = 0;
  tcp_.visit([&](const TcpRow& row) {
    if (is_owned(row.flow)) ++alive;
    if (row.state == *state && (!owned || is_owned(row.flow))) ++count;
  });
  if (*state != TcpState::closed) return count;
  // FreeBSD shows sockets whose connection has ended, until they are closed.
  const auto connected =
      std::ranges::count_if(sockets_, [](const auto& entry) { return bool{entry.second->connection}; });
  return static_cast<int>(connected) - alive;
}

}  // namespace ingot::network_scripts
