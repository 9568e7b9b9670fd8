// Pairs of sockets whose messages keep their borders: SOCK_DGRAM and SOCK_SEQPACKET. They differ in what an end means:
// the second kind is a connection, whose end is told; the first learns only by sending that nobody is there.
#include "os/file/channels/packet_queue.h"
#include "os/file/channels/socket_pair.h"
#include "os/file/control_caller.h"
#include "os/file/control_requests.h"

namespace ingot::os {
namespace {

using Side = PacketQueue::Side;

class PacketSocket final : public SocketFile {
 public:
  PacketSocket(SocketKind kind, Reference<SocketPairState> pair, unsigned end, Reference<PacketQueue> incoming,
               Reference<PacketQueue> outgoing, std::uint32_t flags, Nanoseconds made)
      : SocketFile(kind, std::move(pair), end, flags, made),
        incoming_(std::move(incoming)),
        outgoing_(std::move(outgoing)) {}
  ~PacketSocket() {
    if (kind() == SocketKind::packets && !incoming_->is_empty()) reset_other();
    incoming_->set_reader(Side::gone);
    outgoing_->set_writer(Side::gone);
  }

  void shut_down(Direction direction) override {
    direction == Direction::receiving ? incoming_->set_reader(Side::shut) : outgoing_->set_writer(Side::shut);
  }
  // A reset is told before what waits, as on Linux.
  Answer<Received> receive(Transfer& to, Reading reading) override {
    if (take_reset()) return Errno::econnreset;
    const Answer<Received> received = incoming_->read(to, reading);
    if (!received.ok() && received.error() == Errno::eagain && has_ended()) return Received{0, 0};
    return received.ok() ? Answer<Received>(received.value()) : received.error();
  }
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override {
    if (request != control_request::bytes_waiting) return Errno::enotty;
    const std::size_t bytes = kind() == SocketKind::packets ? incoming_->all_bytes() : incoming_->first_bytes();
    TRY(caller.memory().write(argument, static_cast<std::int32_t>(bytes)));
    return std::int64_t{0};
  }
  std::uint32_t poll() override {
    std::uint32_t events = 0;
    if (!incoming_->is_empty() || has_ended()) events |= poll_event::readable;
    if (outgoing_->has_room() || outgoing_->reader() != Side::there) events |= poll_event::writable;
    const bool both_ways = has_ended() && (outgoing_->reader() != Side::there || outgoing_->writer() != Side::there);
    if (kind() == SocketKind::packets && both_ways) events |= poll_event::hang_up;
    return events | (was_reset() ? poll_event::error : 0);
  }

 private:
  // Nothing will come any more. Of a datagram's sender nobody knows that.
  bool has_ended() const {
    return incoming_->reader() != Side::there || (kind() == SocketKind::packets && incoming_->writer() != Side::there);
  }
  Answer<std::size_t> write_bytes(Transfer& from) override {
    if (from.left() > PacketQueue::most_message_bytes) return Errno::emsgsize;
    if (!connected_.load(MemoryOrder::relaxed)) return Errno::enotconn;
    if (outgoing_->writer() != Side::there || outgoing_->reader() == Side::shut) return Errno::epipe;
    if (outgoing_->reader() == Side::there) return outgoing_->write(from);
    if (kind() == SocketKind::packets) return Errno::epipe;
    // As on Linux the first to notice is refused, and from then on nobody's: what waited goes as well.
    connected_.store(false, MemoryOrder::relaxed);
    incoming_->clear();
    return Errno::econnrefused;
  }

  Reference<PacketQueue> incoming_, outgoing_;
  Atomic<bool> connected_{true};
};

}  // namespace

Answer<SocketPair> make_packet_pair(const FileServices& services, SocketKind kind, std::uint32_t flags) {
  Allocator& heap = *services.heap;
  const Nanoseconds now = services.time->realtime();
  const Reference<SocketPairState> state = TRY(make_reference<SocketPairState>(heap));
  const Reference<PacketQueue> there = TRY(make_reference<PacketQueue>(heap, heap, state->source));
  const Reference<PacketQueue> back = TRY(make_reference<PacketQueue>(heap, heap, state->source));
  SocketPair pair;
  pair.one = TRY(make_reference<PacketSocket>(heap, kind, state, 0u, back, there, flags, now));
  pair.other = TRY(make_reference<PacketSocket>(heap, kind, state, 1u, there, back, flags, now));
  return pair;
}

}  // namespace ingot::os
