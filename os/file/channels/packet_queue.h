// PacketQueue: messages that one socket of a pair sends and the other receives, each as a whole. ByteQueue is the same
// for streams.
#pragma once

#include <cstddef>

#include "os/file/channels/message.h"
#include "os/file/channels/socket_pair.h"
#include "os/file/poll.h"
#include "os/schedule/locked.h"

namespace ingot::os {

class PacketQueue final : public Shared {
 public:
  // As many bytes as wait before a sender does, as on Linux (net.core.wmem_default), and the longest of one message.
  static constexpr std::size_t most_bytes = 212'992;
  static constexpr std::size_t most_message_bytes = most_bytes - 32;

  PacketQueue(Allocator& heap, PollSource& source) : heap_(heap), source_(source) {}

  // What a side is at: it may have closed its socket, or have said that it will not go on in this direction.
  enum class Side : std::uint8_t { there, shut, gone };

  // EMSGSIZE; EAGAIN: no room. Who is still there is the sockets' own to judge.
  Answer<std::size_t> write(Transfer& from);
  // EAGAIN: nothing there. What does not fit is lost with the rest.
  Answer<SocketFile::Received> read(Transfer& to, Reading reading);
  bool has_room();
  bool is_empty();
  std::size_t first_bytes();  // of the next message; 0: none
  std::size_t all_bytes();
  void clear();

  Side reader() const { return reader_.load(MemoryOrder::acquire); }
  Side writer() const { return writer_.load(MemoryOrder::acquire); }
  void set_reader(Side side) { set(reader_, side); }
  void set_writer(Side side) { set(writer_, side); }

 private:
  struct State {
    MessageList messages;
    std::size_t bytes = 0;
  };
  void set(Atomic<Side>& which, Side side) {
    which.store(side, MemoryOrder::release);
    source_.notify(poll_event::hang_up);
  }

  Allocator& heap_;
  PollSource& source_;
  Locked<State> state_{LockRank::file_pages};
  Atomic<Side> reader_{Side::there}, writer_{Side::there};
};

}  // namespace ingot::os
