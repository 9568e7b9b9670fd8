#include "os/network/socket/stream_socket.h"

#include "os/file/control_caller.h"
#include "os/file/control_requests.h"
#include "os/network/socket/interface_control.h"
#include "os/network/socket/internet_address.h"

namespace ingot::os::network {

namespace {

IpVersion version_of(std::uint16_t family) { return family == socket_family::internet ? IpVersion::v4 : IpVersion::v6; }

}  // namespace

StreamSocket::StreamSocket(SharedStack& stack, const FileServices& services, std::uint16_t family, std::uint32_t flags)
    : SocketFile({family, SocketKind::stream, static_cast<std::uint32_t>(Protocol::tcp)}, flags,
                 services.time->realtime()),
      stack_(stack),
      services_(services) {}

Answer<Reference<SocketFile>> StreamSocket::create(SharedStack& stack, const FileServices& services,
                                                   std::uint16_t family, std::uint32_t flags) {
  Reference<StreamSocket> socket = TRY(make_reference<StreamSocket>(*services.heap, stack, services, family, flags));
  TRY(socket->become_unconnected({}));
  return Reference<SocketFile>(std::move(socket));
}

StreamSocket::~StreamSocket() {
  stack_.with([&](Stack& stack, Nanoseconds now) {
    if (connection_) {
      connection_->set_events(nullptr);
      connection_->close(now);
      connection_.reset();
    }
    if (unconnected_) stack.tcp().ports().release(unconnected_->binding);
    unconnected_.reset();
  });
}

Answer<void> StreamSocket::become_unconnected(const TcpOptions& options) {
  Owned<Unconnected> fresh = TRY(make_owned<Unconnected>(*services_.heap, version_of(sort().family)));
  fresh->options = options;
  fresh->binding.sharing = {settings().is_on(socket_option::reuse_address),
                            settings().is_on(socket_option::reuse_port)};
  unconnected_ = std::move(fresh);
  return {};
}

Answer<void> StreamSocket::bind(const SocketAddress& address) {
  const Endpoint wanted = TRY(read_endpoint(address, sort().family));
  return stack_.with([&](Stack& stack, Nanoseconds) -> Answer<void> {
    if (!unconnected_ || listener() != nullptr) return Errno::einval;
    return stack.tcp().ports().bind(unconnected_->binding, wanted);
  });
}

Answer<void> StreamSocket::listen(std::uint32_t backlog) {
  return stack_.with([&](Stack& stack, Nanoseconds) -> Answer<void> {
    if (connection_) return Errno::einval;
    if (listener() == nullptr) {
      unconnected_->listener = TRY(stack.tcp().listen(unconnected_->binding, backlog, unconnected_->options, *this));
    }
    listener()->set_backlog(backlog);
    return {};
  });
}

Answer<Reference<SocketFile>> StreamSocket::accept(std::uint32_t flags) {
  // Made first: a connection that was taken off the list must not be lost for want of memory.
  Reference<StreamSocket> socket =
      TRY(make_reference<StreamSocket>(*services_.heap, stack_, services_, sort().family, flags));
  socket->settings().inherit(settings());
  socket->connect_was_told_ = true;
  const Answer<void> accepted = stack_.with([&](Stack&, Nanoseconds) -> Answer<void> {
    if (listener() == nullptr) return Errno::einval;
    socket->connection_ = TRY(listener()->accept());
    socket->connection_->set_events(socket.get());
    return {};
  });
  if (!accepted.ok()) return accepted.error();
  return Reference<SocketFile>(std::move(socket));
}

bool StreamSocket::is_connecting() const {
  return connection_ && (connection_->state() == TcpState::syn_sent || connection_->state() == TcpState::syn_received);
}

Answer<void> StreamSocket::begin_connection(Stack& stack, const Endpoint& to, Nanoseconds now) {
  if (connection_) {
    if (is_connecting()) return Errno::ealready;
    const bool ended = connection_->state() == TcpState::closed;
    if (!std::exchange(connect_was_told_, true)) {
      if (!ended) return {};
      const Errno error = connection_->take_error();
      TRY(disconnect(now));
      return error != Errno{} ? error : Errno::econnaborted;
    }
    if (!ended) return Errno::eisconn;
    TRY(disconnect(now));
  }
  if (listener() != nullptr) return Errno::eisconn;
  connection_ = TRY(stack.tcp().connect(unconnected_->binding, to, unconnected_->options, *this, now));
  unconnected_.reset();
  connect_was_told_ = false;
  return Errno::einprogress;
}

Answer<void> StreamSocket::disconnect(Nanoseconds now) {
  if (!connection_) return {};
  TRY(become_unconnected(connection_->options()));
  connection_->set_events(nullptr);
  connection_->abort(Errno{}, now);
  connection_.reset();
  return {};
}

Answer<void> StreamSocket::connect(const SocketAddress& address) {
  if (address.has_family() && address.family() == socket_family::none) {
    return stack_.with([&](Stack&, Nanoseconds now) { return disconnect(now); });
  }
  const Endpoint to = TRY(read_endpoint(address, sort().family));
  const Answer<void> begun =
      stack_.with([&](Stack& stack, Nanoseconds now) { return begin_connection(stack, to, now); });
  if (begun.ok() || begun.error() != Errno::einprogress) return begun.ok() ? Answer<void>() : begun.error();
  // A way that leads back to this machine has been gone by now.
  return stack_.with([&](Stack& stack, Nanoseconds now) -> Answer<void> {
    if (is_connecting()) return Errno::einprogress;
    return begin_connection(stack, to, now);
  });
}

Endpoint StreamSocket::local() const {
  if (connection_) return connection_->local();
  const Binding& binding = listener() != nullptr ? *listener() : unconnected_->binding;
  return binding.is_bound() ? binding.local() : Endpoint{binding.any_address(), 0};
}

Answer<void> StreamSocket::tell_own_name(SocketAddress& to) {
  const Endpoint endpoint = stack_.with([&](Stack&, Nanoseconds) { return local(); });
  write_endpoint(endpoint, sort().family, to);
  return {};
}

Answer<void> StreamSocket::tell_peers_name(SocketAddress& to) {
  const Endpoint endpoint = stack_.with([&](Stack&, Nanoseconds) {
    const bool has_peer = connection_ && !is_connecting() && connection_->state() != TcpState::closed;
    return has_peer ? connection_->remote() : Endpoint();
  });
  if (endpoint.port == 0) return Errno::enotconn;
  write_endpoint(endpoint, sort().family, to);
  return {};
}

// A program may hand over megabytes; others want the stack meanwhile. It is told a short count only where there was no
// room or nothing more: programs that wait for edges go by that.
Answer<std::size_t> StreamSocket::send(Transfer& from, const Outgoing& how) {
  std::size_t sent = 0;
  while (true) {
    const bool more_here = from.hold_back(SharedStack::piece_bytes);
    const Answer<std::size_t> moved = stack_.with([&](Stack&, Nanoseconds now) -> Answer<std::size_t> {
      if (!connection_) return Errno::epipe;
      return connection_->send(from, how.more || more_here, now);
    });
    const bool goes_on = from.bring_back();
    if (!moved.ok()) return sent != 0 ? Answer<std::size_t>(sent) : moved.error();
    sent += moved.value();
    if (!more_here || !goes_on) return sent;
  }
}

Answer<SocketFile::Received> StreamSocket::receive(Transfer& to, const Incoming& how) {
  std::size_t received = 0;
  while (true) {
    const bool more_here = how.reading == Reading::takes && to.hold_back(SharedStack::piece_bytes);
    const std::uint64_t wanted = to.left();
    const Answer<std::size_t> moved = stack_.with([&](Stack&, Nanoseconds now) -> Answer<std::size_t> {
      if (!connection_) return Errno::enotconn;
      return connection_->receive(to, how.reading, now);
    });
    const bool goes_on = more_here ? to.bring_back() : true;
    if (!moved.ok() && received == 0) return moved.error();
    if (moved.ok()) received += moved.value();
    if (!moved.ok() || !more_here || !goes_on || moved.value() < wanted) return Received{received, received};
  }
}

Answer<void> StreamSocket::shut_down(Direction direction) {
  const auto bits = static_cast<std::uint8_t>(direction);
  const bool receiving = (bits & static_cast<std::uint8_t>(Direction::receiving)) != 0;
  const bool sending = (bits & static_cast<std::uint8_t>(Direction::sending)) != 0;
  return stack_.with([&](Stack& stack, Nanoseconds now) -> Answer<void> {
    if (connection_) return connection_->shut_down(receiving, sending, now);
    if (listener() == nullptr) return Errno::enotconn;
    if (!receiving) return {};
    // As on Linux: nobody is accepted any more, and who waits in accept is told so. The port stays.
    unconnected_->options = listener()->options;
    stack.tcp().ports().take_back(*listener(), unconnected_->binding);
    unconnected_->listener.reset();
    source_.notify(poll_event::hang_up);
    return {};
  });
}

Answer<void> StreamSocket::let_go() {
  return stack_.with([&](Stack&, Nanoseconds now) -> Answer<void> {
    if (!connection_) return {};
    connection_->close(now);
    connection_->set_events(this);
    return connection_->is_closing() ? Errno::eagain : Answer<void>();
  });
}

bool StreamSocket::listens() {
  return stack_.drive([&](Stack&) { return listener() != nullptr; });
}

Errno StreamSocket::take_error() {
  return stack_.with([&](Stack&, Nanoseconds) { return connection_ ? connection_->take_error() : Errno{}; });
}

std::uint32_t StreamSocket::poll() {
  return stack_.drive([&](Stack&) -> std::uint32_t {
    if (connection_) return connection_->events();
    if (listener() != nullptr) return listener()->events();
    return poll_event::writable | poll_event::write_normal | poll_event::hang_up;
  });
}

Answer<std::int64_t> StreamSocket::control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) {
  constexpr std::uint32_t unacknowledged = 0x5411, unsent = 0x894b;  // SIOCOUTQ, SIOCOUTQNSD
  if (request != control_request::bytes_waiting && request != unacknowledged && request != unsent) {
    return control_interfaces(stack_, request, argument, caller);
  }
  const std::int64_t bytes = stack_.with([&](Stack&, Nanoseconds) -> std::int64_t {
    if (listener() != nullptr) return -1;
    if (!connection_) return 0;
    if (request == control_request::bytes_waiting) return static_cast<std::int64_t>(connection_->unread_bytes());
    return request == unsent ? connection_->unsent_bytes() : connection_->unacknowledged_bytes();
  });
  if (bytes < 0) return Errno::einval;
  TRY(caller.memory().write(argument, static_cast<std::int32_t>(bytes)));
  return std::int64_t{0};
}

}  // namespace ingot::os::network
