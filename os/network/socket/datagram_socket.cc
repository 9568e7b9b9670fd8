#include "os/network/socket/datagram_socket.h"

#include "os/file/control_caller.h"
#include "os/file/control_requests.h"
#include "os/network/socket/interface_control.h"
#include "os/network/socket/internet_address.h"
#include "os/network/socket/option_values.h"

namespace ingot::os::network {

DatagramSocket::DatagramSocket(SharedStack& shared, Udp& udp, Nanoseconds made, std::uint16_t family,
                               std::uint32_t flags)
    : SocketFile({family, SocketKind::datagrams, static_cast<std::uint32_t>(Protocol::udp)}, flags, made),
      stack_(shared),
      socket_(std::in_place, udp, static_cast<SocketEvents&>(*this),
              family == socket_family::internet ? IpVersion::v4 : IpVersion::v6) {}

Answer<Reference<SocketFile>> DatagramSocket::create(SharedStack& shared, const FileServices& services,
                                                     std::uint16_t family, std::uint32_t flags) {
  Udp& udp = *shared.drive([](Stack& stack) { return &stack.udp(); });
  return Reference<SocketFile>(
      TRY(make_reference<DatagramSocket>(*services.heap, shared, udp, services.time->realtime(), family, flags)));
}

DatagramSocket::~DatagramSocket() {
  stack_.with([&](Stack&, Nanoseconds) { socket_.reset(); });
}

Answer<void> DatagramSocket::bind(const SocketAddress& address) {
  const Endpoint wanted = TRY(read_endpoint(address, sort().family));
  return stack_.with([&](Stack&, Nanoseconds) { return socket_->bind(wanted); });
}

Answer<void> DatagramSocket::connect(const SocketAddress& address) {
  if (address.has_family() && address.family() == socket_family::none) {
    // Who is not connected is not any more, either.
    return stack_.with([&](Stack&, Nanoseconds) -> Answer<void> {
      if (socket_->is_connected()) TRY(socket_->disconnect());
      return {};
    });
  }
  const Endpoint to = TRY(read_endpoint(address, sort().family));
  return stack_.with([&](Stack&, Nanoseconds) { return socket_->connect(to); });
}

Answer<void> DatagramSocket::tell_own_name(SocketAddress& to) {
  const Endpoint endpoint = stack_.with([&](Stack&, Nanoseconds) {
    return socket_->is_bound() ? socket_->local() : Endpoint{socket_->any_address(), 0};
  });
  write_endpoint(endpoint, sort().family, to);
  return {};
}

Answer<void> DatagramSocket::tell_peers_name(SocketAddress& to) {
  const Endpoint endpoint = stack_.with([&](Stack&, Nanoseconds) { return socket_->remote(); });
  if (endpoint.port == 0) return Errno::enotconn;
  write_endpoint(endpoint, sort().family, to);
  return {};
}

Answer<std::size_t> DatagramSocket::send(Transfer& from, const Outgoing& how) {
  std::optional<Endpoint> to;
  if (how.to != nullptr) to = TRY(read_endpoint(*how.to, sort().family));
  return stack_.with([&](Stack&, Nanoseconds) { return socket_->send_to(from, to ? &*to : nullptr); });
}

Answer<SocketFile::Received> DatagramSocket::receive(Transfer& to, const Incoming& how) {
  DatagramNews news;
  const std::size_t moved =
      TRY(stack_.with([&](Stack&, Nanoseconds) { return socket_->receive(to, how.reading, news); }));
  if (how.from != nullptr && news.from.port != 0) write_endpoint(news.from, sort().family, *how.from);
  return Received{moved, static_cast<std::size_t>(news.bytes)};
}

Answer<void> DatagramSocket::shut_down(Direction direction) {
  const auto bits = static_cast<std::uint8_t>(direction);
  return stack_.with([&](Stack&, Nanoseconds) {
    return socket_->shut_down((bits & static_cast<std::uint8_t>(Direction::receiving)) != 0,
                              (bits & static_cast<std::uint8_t>(Direction::sending)) != 0);
  });
}

Errno DatagramSocket::take_error() {
  return stack_.with([&](Stack&, Nanoseconds) { return socket_->take_error(); });
}

std::uint32_t DatagramSocket::poll() {
  return stack_.with([&](Stack&, Nanoseconds) { return socket_->events(); });
}

Answer<std::int64_t> DatagramSocket::control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) {
  if (request != control_request::bytes_waiting) return control_interfaces(stack_, request, argument, caller);
  const std::uint64_t bytes = stack_.with([&](Stack&, Nanoseconds) { return socket_->next_bytes(); });
  TRY(caller.memory().write(argument, static_cast<std::int32_t>(bytes)));
  return std::int64_t{0};
}

Answer<std::size_t> DatagramSocket::get_own_option(std::uint32_t level, std::uint32_t option, std::span<std::byte> to) {
  return stack_.with([&](Stack&, Nanoseconds) -> Answer<std::size_t> {
    if (level == option_level::v6 && option == option_level::v6_only) return tell(to, std::int32_t{socket_->v6_only});
    if (const std::uint8_t* value = value_of(level, option)) return tell(to, std::int32_t{*value});
    return level == option_level::tcp ? Errno::enoprotoopt : tell_quiet_option(level, option, to);
  });
}

Answer<void> DatagramSocket::set_own_option(std::uint32_t level, std::uint32_t option,
                                            std::span<const std::byte> value) {
  const std::int32_t number = TRY(number_in(level, value));
  return stack_.with([&](Stack&, Nanoseconds) -> Answer<void> {
    if (level == option_level::v6 && option == option_level::v6_only) {
      if (socket_->is_bound()) return Errno::einval;
      socket_->v6_only = number != 0;
      return {};
    }
    if (std::uint8_t* place = value_of(level, option)) {
      if (number < 0 || number > 255) return Errno::einval;
      *place = static_cast<std::uint8_t>(number);
      return {};
    }
    return level == option_level::tcp ? Errno::enoprotoopt : set_quiet_option(level, option);
  });
}

// IP_TOS and IPV6_TCLASS, IP_TTL and IPV6_UNICAST_HOPS.
std::uint8_t* DatagramSocket::value_of(std::uint32_t level, std::uint32_t option) {
  const bool is_v4 = level == option_level::v4;
  if (!is_v4 && level != option_level::v6) return nullptr;
  if (option == (is_v4 ? 1u : 67u)) return &socket_->service;
  return option == (is_v4 ? 2u : 16u) ? &socket_->hop_limit : nullptr;
}

void DatagramSocket::heed_setting(std::uint32_t option) {
  stack_.with([&](Stack&, Nanoseconds) {
    switch (option) {
      case socket_option::broadcast: socket_->may_broadcast = settings().is_on(option); break;
      case socket_option::receive_buffer:
      case socket_option::any_receive_buffer:
        socket_->receive_bytes = settings().receive_buffer.load(MemoryOrder::relaxed);
        break;
      case socket_option::reuse_address: socket_->sharing.address = settings().is_on(option); break;
      case socket_option::reuse_port: socket_->sharing.port = settings().is_on(option); break;
      default: break;
    }
  });
}

}  // namespace ingot::os::network
