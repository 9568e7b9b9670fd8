#include "os/file/channels/packet_queue.h"

namespace ingot::os {

Answer<std::size_t> PacketQueue::write(Transfer& from) {
  if (from.left() > most_message_bytes) return Errno::emsgsize;
  if (!has_room()) return Errno::eagain;  // before the copy, which would be in vain
  Reference<Message> message = TRY(Message::create(heap_, from));
  const std::size_t bytes = message->bytes().size();
  const bool added = state_.with([&](State& it) {
    if (it.bytes >= most_bytes) return false;
    it.bytes += bytes + sizeof(Message);
    it.messages.add(std::move(message));
    return true;
  });
  if (!added) return Errno::eagain;
  source_.notify(poll_event::readable);
  return bytes;
}

Answer<SocketFile::Received> PacketQueue::read(Transfer& to, Reading reading) {
  const Reference<Message> message = state_.with([&](State& it) {
    if (reading == Reading::looks) {
      return it.messages.count() == 0 ? Reference<Message>() : Reference<Message>(*it.messages.first());
    }
    Reference<Message> first = it.messages.take_first();
    if (first) it.bytes -= first->bytes().size() + sizeof(Message);
    return first;
  });
  if (!message) return Errno::eagain;
  if (reading == Reading::takes) source_.notify(poll_event::writable);
  const std::size_t bytes = message->bytes().size();
  if (bytes == 0 || to.left() == 0) return SocketFile::Received{0, bytes};
  return SocketFile::Received{TRY(to.give(message->bytes())), bytes};
}

bool PacketQueue::has_room() {
  return state_.with([](State& it) { return it.bytes < most_bytes; });
}

bool PacketQueue::is_empty() {
  return state_.with([](State& it) { return it.messages.count() == 0; });
}

std::size_t PacketQueue::first_bytes() {
  return state_.with([](State& it) { return it.messages.count() == 0 ? 0 : it.messages.first()->bytes().size(); });
}

std::size_t PacketQueue::all_bytes() {
  return state_.with([](State& it) { return it.bytes - it.messages.count() * sizeof(Message); });
}

void PacketQueue::clear() {
  while (const Reference<Message> gone = state_.with([](State& it) {
    it.bytes = 0;
    return it.messages.take_first();
  })) {
  }
}

}  // namespace ingot::os
