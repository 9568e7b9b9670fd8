#include "os/file/socket/local_end.h"

#include <utility>

namespace ingot::os {

namespace {

constexpr std::uint32_t any_event = ~0u;  // everything may have changed

LocalEnd::Direction opposite(LocalEnd::Direction direction) {
  const auto bits = static_cast<unsigned>(direction);
  return static_cast<LocalEnd::Direction>((bits & 1) << 1 | bits >> 1);
}

}  // namespace

std::uint32_t LocalEnd::events() {
  std::uint32_t events = 0;
  if (error != Errno{0}) events |= poll_event::error;
  if (is_shut(Direction::receiving)) events |= poll_event::readable | poll_event::peer_closed;
  if (is_shut(Direction::receiving) && is_shut(Direction::sending)) events |= poll_event::hang_up;
  if (kind != SocketKind::datagrams && state == State::unconnected) events |= poll_event::hang_up;
  if (messages.count() != 0 || !pending.is_empty()) events |= poll_event::readable;
  return events | (is_writable() ? poll_event::writable : 0);
}

// Two that are connected to each other are bounded by what each may send.
bool LocalEnd::is_full_for(const LocalEnd& sender) {
  return kind == SocketKind::datagrams && peer.get() != &sender && messages.count() > most_datagrams;
}

// As on Linux, once three quarters are free.
bool LocalEnd::is_writable() {
  if (state == State::listening || claimed * 4 > send_buffer) return false;
  return kind != SocketKind::datagrams || !peer || !peer->is_full_for(*this);
}

Errno LocalEnd::refusal(LocalEnd& to) {
  if (kind != SocketKind::stream && error != Errno{0}) return take_error();
  if (is_shut(Direction::sending)) return Errno::epipe;
  const bool is_taken = to.peer && to.peer.get() != this;
  if (is_taken) return Errno::eperm;
  if (to.state == State::gone) {
    if (kind != SocketKind::datagrams) return Errno::epipe;
    // The first to notice is refused, and from then on nobody's.
    if (peer.get() == &to) follow({});
    return Errno::econnrefused;
  }
  if (to.is_shut(Direction::receiving)) return Errno::epipe;
  return to.is_full_for(*this) ? Errno::eagain : Errno{0};
}

bool LocalEnd::claim(std::size_t cost) {
  if (claimed >= send_buffer) return false;
  claimed += cost;
  return true;
}

void LocalEnd::give_back(std::size_t cost) {
  claimed -= cost;
  if (is_writable()) source.notify(poll_event::writable);
}

void LocalEnd::join(LocalEnd& one, LocalEnd& other) {
  one.peer = Reference<LocalEnd>(other);
  other.peer = Reference<LocalEnd>(one);
  one.state = other.state = State::connected;
}

void LocalEnd::follow(Reference<LocalEnd> whom) {
  if (peer) {
    if (static_cast<ListLink<SenderTag>&>(*this).is_linked()) peer->senders.remove(*this);
    if (peer != whom && peer->peer.get() == this && peer->state != State::gone) {
      peer->error = Errno::econnreset;
      peer->source.notify(any_event);
    }
    if (peer != whom) {
      while (Message* const lost = messages.first()) remove(*lost);
    }
  }
  if (whom) whom->senders.push_back(*this);
  peer = std::move(whom);
}

void LocalEnd::add(Reference<Message> message, LocalEnd& sender) {
  message->sender = Reference<Shared>(sender);
  messages.add(std::move(message));
}

bool LocalEnd::remove(Message& message) {
  auto& sender = static_cast<LocalEnd&>(*message.sender);
  const bool was_full = kind == SocketKind::datagrams && messages.count() == most_datagrams + 1;
  const Reference<Message> gone = messages.take(message);
  sender.give_back(cost_of(message.bytes().size()));
  if (!was_full) return false;
  for (LocalEnd& other : senders) {
    if (other.is_writable()) other.source.notify(poll_event::writable);
  }
  return true;
}

void LocalEnd::shut_down(Direction direction) {
  shut |= static_cast<std::uint8_t>(direction);
  source.notify(any_event);
  if (kind == SocketKind::datagrams || !peer || peer->state == State::gone) return;
  peer->shut |= static_cast<std::uint8_t>(opposite(direction));
  peer->source.notify(any_event);
}

void LocalEnd::leave(bool was_accepted) {
  const bool is_connection = kind != SocketKind::datagrams && peer && peer->state != State::gone;
  if (is_connection) {
    if (messages.count() != 0 || !was_accepted) peer->error = Errno::econnreset;
    peer->shut = static_cast<std::uint8_t>(Direction::both);
    peer->source.notify(any_event);
  }
  if (static_cast<ListLink<SenderTag>&>(*this).is_linked()) peer->senders.remove(*this);
  state = State::gone;
  for (LocalEnd& sender : senders) sender.source.notify(any_event);
  peer.reset();
}

}  // namespace ingot::os
