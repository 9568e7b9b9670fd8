// Pairs of sockets for streams: SOCK_STREAM.
#include "base/atomic.h"
#include "os/file/channels/byte_queue.h"
#include "os/file/channels/socket_pair.h"
#include "os/file/control_caller.h"
#include "os/file/control_requests.h"

namespace ingot::os {
namespace {

class StreamSocket final : public SocketFile {
 public:
  StreamSocket(Reference<SocketPairState> pair, unsigned end, Reference<ByteQueue> incoming,
               Reference<ByteQueue> outgoing, std::uint32_t flags, Nanoseconds made)
      : SocketFile(SocketKind::stream, std::move(pair), end, flags, made),
        incoming_(std::move(incoming)),
        outgoing_(std::move(outgoing)) {}
  ~StreamSocket() {
    if (incoming_->waiting() != 0) reset_other();
    shut_down(Direction::receiving);
    shut_down(Direction::sending);
  }

  void shut_down(Direction direction) override {
    const bool receives = direction == Direction::receiving;
    if ((receives ? receives_ : sends_).exchange(false, MemoryOrder::acquire_release)) {
      receives ? incoming_->drop_reader() : outgoing_->drop_writer();
    }
  }
  Answer<Received> receive(Transfer& to, Reading reading) override {
    if (!receives_.load(MemoryOrder::relaxed)) return Received{};
    const std::size_t moved = TRY(incoming_->read(to, reading));
    if (moved == 0 && to.left() != 0 && take_reset()) return Errno::econnreset;
    return Received{moved, moved};
  }
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override {
    if (request != control_request::bytes_waiting) return Errno::enotty;
    TRY(caller.memory().write(argument, static_cast<std::int32_t>(incoming_->waiting())));
    return std::int64_t{0};
  }
  std::uint32_t poll() override {
    const std::uint32_t in = incoming_->events_of_reader(), out = outgoing_->events_of_writer();
    std::uint32_t events = (in & poll_event::readable) | (out & poll_event::writable);
    // Nothing will come any more: a read answers at once.
    if ((in & poll_event::hang_up) != 0 || !receives_.load(MemoryOrder::relaxed)) events |= poll_event::readable;
    if ((in & poll_event::hang_up) != 0 && (out & poll_event::error) != 0) events |= poll_event::hang_up;
    return events | (was_reset() ? poll_event::error : 0);
  }

 private:
  Answer<std::size_t> write_bytes(Transfer& from) override {
    if (!sends_.load(MemoryOrder::relaxed)) return Errno::epipe;
    return outgoing_->write(from);
  }

  Reference<ByteQueue> incoming_, outgoing_;
  Atomic<bool> receives_{true}, sends_{true};
};

}  // namespace

Answer<SocketPair> make_stream_pair(const FileServices& services, std::uint32_t flags) {
  Allocator& heap = *services.heap;
  const Nanoseconds now = services.time->realtime();
  const Reference<SocketPairState> state = TRY(make_reference<SocketPairState>(heap));
  const Reference<ByteQueue> there = TRY(ByteQueue::create(heap, &state->source));
  const Reference<ByteQueue> back = TRY(ByteQueue::create(heap, &state->source));
  SocketPair pair;
  pair.one = TRY(make_reference<StreamSocket>(heap, state, 0u, back, there, flags, now));
  pair.other = TRY(make_reference<StreamSocket>(heap, state, 1u, there, back, flags, now));
  return pair;
}

}  // namespace ingot::os
