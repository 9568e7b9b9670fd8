#include "os/file/socket/local_socket.h"

#include <algorithm>

#include "os/file/control_caller.h"
#include "os/file/control_requests.h"

namespace ingot::os {

namespace {

using State = LocalEnd::State;

void tell_name(const Reference<LocalName>& name, SocketAddress& to) {
  to.set(socket_family::local, name ? name->bytes() : std::span<const std::byte>());
}

}  // namespace

LocalSocket::LocalSocket(LocalSockets& all, Reference<LocalEnd> end, std::uint32_t flags, Nanoseconds made)
    : SocketFile({socket_family::local, end->kind, 0}, flags, made), all_(all), end_(std::move(end)) {}

LocalSocket::~LocalSocket() { all_.close(*end_); }

Answer<void> LocalSocket::bind(const SocketAddress& address) { return all_.bind(*end_, address); }

Answer<void> LocalSocket::listen(std::uint32_t backlog) {
  constexpr std::uint32_t most_backlog = 4096;  // net.core.somaxconn
  if (kind() == SocketKind::datagrams) return Errno::eopnotsupp;
  const bool may_listen = all_.with([&] {
    if (!end_->name || end_->state == State::connected) return false;
    end_->state = State::listening;
    end_->backlog = std::min(backlog, most_backlog);
    return true;
  });
  if (!may_listen) return Errno::einval;
  all_.room().notify(poll_event::writable);
  return {};
}

Answer<Reference<SocketFile>> LocalSocket::accept(std::uint32_t flags) {
  if (kind() == SocketKind::datagrams) return Errno::eopnotsupp;
  Reference<LocalEnd> end;
  bool was_full = false;
  const Errno refused = all_.with([&] {
    if (end_->state != State::listening) return Errno::einval;
    LocalEnd* const first = end_->pending.pop_front();
    if (first == nullptr) return end_->is_shut(Direction::receiving) ? Errno::einval : Errno::eagain;
    end = Reference<LocalEnd>::adopt(*first);
    was_full = end_->pending_count-- > end_->backlog;
    return Errno{0};
  });
  if (refused != Errno{0}) return refused;
  Answer<Reference<SocketFile>> file = all_.make_file(end, flags);
  if (file.ok()) {
    if (was_full) all_.room().notify(poll_event::writable);
    return file;
  }
  // It stays the first, for who has more memory.
  all_.with([&] {
    end_->pending.push_front(*end.leak());
    ++end_->pending_count;
  });
  return file.error();
}

// A connection is made at once, whether or not somebody accepts it later; where too many wait, it has to.
Answer<void> LocalSocket::connect(const SocketAddress& address) {
  if (kind() == SocketKind::datagrams) return follow(address);
  const Reference<LocalEnd> listener = TRY(all_.find(address, kind()));
  Reference<LocalEnd> other = TRY(all_.make_end(kind()));
  const Errno refused = all_.with([&] {
    if (end_->state != State::unconnected) return end_->state == State::connected ? Errno::eisconn : Errno::einval;
    if (listener->state != State::listening || listener->is_shut(Direction::receiving)) return Errno::econnrefused;
    if (listener->pending_count > listener->backlog) return Errno::eagain;
    LocalEnd::join(*end_, *other);
    other->name = listener->name;
    listener->pending.push_back(*other.leak());
    ++listener->pending_count;
    return Errno{0};
  });
  if (refused != Errno{0}) return refused;
  listener->source.notify(poll_event::readable);
  return {};
}

Answer<void> LocalSocket::follow(const SocketAddress& address) {
  Reference<LocalEnd> whom;
  if (!address.has_family()) return Errno::einval;
  if (address.family() != socket_family::none) whom = TRY(all_.find(address, kind()));
  const bool may_send = all_.with([&] {
    if (whom && whom->peer && whom->peer.get() != end_.get()) return false;
    end_->follow(whom);
    return true;
  });
  return may_send ? Answer<void>() : Errno::eperm;
}

Answer<void> LocalSocket::tell_own_name(SocketAddress& to) {
  all_.with([&] { tell_name(end_->name, to); });
  return {};
}

Answer<void> LocalSocket::tell_peers_name(SocketAddress& to) {
  const bool is_connected = all_.with([&] {
    if (end_->peer) tell_name(end_->peer->name, to);
    return static_cast<bool>(end_->peer);
  });
  return is_connected ? Answer<void>() : Errno::enotconn;
}

Answer<void> LocalSocket::shut_down(Direction direction) {
  all_.with([&] { end_->shut_down(direction); });
  all_.room().notify(poll_event::writable);
  return {};
}

Errno LocalSocket::take_error() {
  return all_.with([&] { return end_->take_error(); });
}

bool LocalSocket::listens() {
  return all_.with([&] { return end_->state == State::listening; });
}

// Of datagrams only a pair's.
bool LocalSocket::knows_peer() {
  return all_.with([&] { return end_->state != State::unconnected; });
}

void LocalSocket::heed_setting(std::uint32_t option) {
  if (option != socket_option::send_buffer && option != socket_option::any_send_buffer) return;
  all_.with([&] { end_->send_buffer = settings().send_buffer.load(MemoryOrder::relaxed); });
  end_->source.notify(poll_event::writable);
}

std::uint32_t LocalSocket::poll() {
  return all_.with([&] { return end_->events(); });
}

// Of datagrams the next one's.
std::size_t LocalSocket::waiting() {
  return all_.with([&] {
    std::size_t bytes = 0;
    for (Message* it = end_->messages.first(); it != nullptr; it = end_->messages.after(*it)) {
      bytes += it->bytes().size() - it->taken;
      if (kind() == SocketKind::datagrams) break;
    }
    return bytes;
  });
}

Answer<std::int64_t> LocalSocket::control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) {
  if (request != control_request::bytes_waiting) return Errno::enotty;
  if (listens()) return Errno::einval;
  TRY(caller.memory().write(argument, static_cast<std::int32_t>(waiting())));
  return std::int64_t{0};
}

}  // namespace ingot::os
