// What sockets of AF_UNIX send and receive. A message is copied before the lock is taken and after it was given back;
// as on Linux, a stream is made of messages whose borders nobody sees.
#include <algorithm>

#include "os/file/socket/local_socket.h"

namespace ingot::os {

namespace {

void tell_sender(const Message& message, SocketAddress* to) {
  if (to == nullptr) return;
  to->size = 0;
  if (const auto& sender = static_cast<const LocalEnd&>(*message.sender); sender.name) {
    to->set(socket_family::local, sender.name->bytes());
  }
}

}  // namespace

Answer<Reference<LocalEnd>> LocalSocket::receiver(const Outgoing& how) {
  const bool is_named = how.to != nullptr && how.to->size != 0;
  if (is_named && kind() == SocketKind::datagrams) return all_.find(*how.to, kind());
  Reference<LocalEnd> peer = all_.with([&] { return end_->peer; });
  if (is_named && kind() == SocketKind::stream) return peer ? Errno::eisconn : Errno::eopnotsupp;
  if (!peer) return Errno::enotconn;
  return peer;
}

Answer<std::size_t> LocalSocket::send(Transfer& from, const Outgoing& how) {
  constexpr std::size_t most_of_stream = 32 * 1024;  // in one message
  const Reference<LocalEnd> to = TRY(receiver(how));
  const std::size_t buffer = settings().send_buffer.load(MemoryOrder::relaxed);
  if (kind() != SocketKind::stream) {
    if (from.left() > buffer - 32) return Errno::emsgsize;
    return send_message(from, from.left(), *to);
  }
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min<std::uint64_t>({from.left(), most_of_stream, buffer / 2});
    const Answer<std::size_t> sent = send_message(from, bytes, *to);
    if (!sent.ok() && done == 0) return sent.error();
    if (!sent.ok()) break;
    done += sent.value();
  } while (from.left() != 0);
  return done;
}

// Room is claimed before the copy: what several threads send at once stays within it, too.
Answer<std::size_t> LocalSocket::send_message(Transfer& from, std::size_t bytes, LocalEnd& to) {
  const std::size_t cost = LocalEnd::cost_of(bytes);
  const bool is_nothing = bytes == 0 && kind() == SocketKind::stream;
  Errno refused = all_.with([&] {
    const Errno why = end_->refusal(to);
    if (why != Errno{0} || is_nothing) return why;
    return end_->claim(cost) ? Errno{0} : Errno::eagain;
  });
  if (refused != Errno{0}) return refused;
  if (is_nothing) return bytes;
  Answer<Reference<Message>> message = Message::create(all_.heap(), from, bytes);
  refused = all_.with([&] {
    const Errno why = message.ok() ? end_->refusal(to) : message.error();
    if (why == Errno{0}) {
      to.add(std::move(message).value(), *end_);
    } else {
      end_->give_back(cost);
    }
    return why;
  });
  if (refused != Errno{0}) return refused;
  to.source.notify(poll_event::readable);
  return bytes;
}

Answer<SocketFile::Received> LocalSocket::receive(Transfer& to, const Incoming& how) {
  const MutexGuard guard(reading_);
  return kind() == SocketKind::stream ? receive_stream(to, how) : receive_message(to, how);
}

Answer<SocketFile::Received> LocalSocket::receive_message(Transfer& to, const Incoming& how) {
  Reference<Message> message;
  bool made_room = false;
  // An error is told before what waits.
  const Errno refused = all_.with([&] {
    const bool never_connected = kind() == SocketKind::packets && end_->state != LocalEnd::State::connected;
    if (never_connected) return Errno::enotconn;
    if (end_->error != Errno{0}) return end_->take_error();
    Message* const first = end_->messages.first();
    if (first == nullptr) return end_->is_shut(Direction::receiving) ? Errno{0} : Errno::eagain;
    message = Reference<Message>(*first);
    tell_sender(*first, how.from);
    if (how.reading == Reading::takes) made_room = end_->remove(*first);
    return Errno{0};
  });
  if (refused != Errno{0}) return refused;
  if (made_room) all_.room().notify(poll_event::writable);
  if (!message) return Received{};
  const std::size_t bytes = message->bytes().size();
  if (bytes == 0 || to.left() == 0) return Received{0, bytes};
  return Received{TRY(to.give(message->bytes())), bytes};
}

// Nobody but who holds `reading_` takes messages of a stream away, so the one that is looked at stays.
Answer<SocketFile::Received> LocalSocket::receive_stream(Transfer& to, const Incoming& how) {
  std::size_t done = 0;
  Message* last = nullptr;
  while (to.left() != 0) {
    Message* next = nullptr;
    const Errno refused = all_.with([&] {
      if (end_->state != LocalEnd::State::connected) return Errno::einval;
      next = last == nullptr ? end_->messages.first() : end_->messages.after(*last);
      if (next != nullptr) tell_sender(*next, how.from);
      if (next != nullptr || done != 0) return Errno{0};
      if (end_->error != Errno{0}) return end_->take_error();
      return end_->is_shut(Direction::receiving) ? Errno{0} : Errno::eagain;
    });
    if (refused != Errno{0}) return refused;
    if (next == nullptr) break;
    const Answer<std::size_t> given = to.give(next->bytes().subspan(next->taken));
    if (!given.ok() && done == 0) return given.error();
    if (!given.ok()) break;
    done += given.value();
    if (how.reading == Reading::looks) {
      last = next;
      continue;
    }
    all_.with([&] {
      next->taken += given.value();
      if (next->taken == next->bytes().size()) end_->remove(*next);
    });
  }
  return Received{done, done};
}

}  // namespace ingot::os
