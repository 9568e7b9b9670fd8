// LocalEnd: what a socket of AF_UNIX is to those that reach it: its name, what waits for it, and whom it is connected
// to. A file (local_socket.h) has one, and so has a connection that nobody accepted yet; names lead to it.
//
//   LocalSocket ---> LocalEnd --peer--> LocalEnd <--- LocalSocket       pending: ends of connections, for accept
//                      ^    <--peer--                                   messages: each knows the end that sent it
//   SocketNode --------'    senders: datagram sockets that are connected to it
//
// Ends own each other, and a message owns its sender. close() lets go of all of it, so that no circle stays.
//
// LocalSockets' one lock guards all ends of a program, their sources excepted: every function here runs under it.
#pragma once

#include <cstdint>
#include <span>

#include "base/intrusive_list.h"
#include "os/file/channels/message.h"
#include "os/file/hash_table.h"
#include "os/file/poll.h"
#include "os/file/socket/socket_file.h"

namespace ingot::os {

// The bytes behind the family: a path with its zero, or a zero and any bytes (an abstract name).
class LocalName final : public Shared {
 public:
  static constexpr std::size_t most_bytes = 108;  // sun_path; a path that fills it gets its zero behind

  explicit LocalName(std::span<const std::byte> bytes) : size_(static_cast<std::uint8_t>(bytes.size())) {
    __builtin_memcpy(bytes_, bytes.data(), bytes.size());
  }
  std::span<const std::byte> bytes() const { return {bytes_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_), size_}; }

 private:
  std::uint8_t size_;
  std::byte bytes_[most_bytes + 1];
};

class LocalEnd final : public Shared,
                       public ListLink<struct PendingTag>,
                       public ListLink<struct SenderTag>,
                       public HashLink<struct LocalNameTag> {
 public:
  // As many datagrams of strangers wait, and one more (net.unix.max_dgram_qlen).
  static constexpr std::size_t most_datagrams = 10;

  enum class State : std::uint8_t { unconnected, connected, listening, gone };
  using Direction = SocketFile::Direction;

  explicit LocalEnd(SocketKind its_kind) : kind(its_kind) {}

  std::uint32_t events();
  bool is_shut(Direction direction) const { return (shut & static_cast<std::uint8_t>(direction)) != 0; }
  bool is_full_for(const LocalEnd& sender);
  bool is_writable();
  // Why a message cannot go from here to another end now, room here apart; 0: it can.
  Errno refusal(LocalEnd& to);
  // A message's bytes and what it takes beside them count for its sender from before it is copied until it was read.
  bool claim(std::size_t cost);
  void give_back(std::size_t cost);
  static std::size_t cost_of(std::size_t bytes) { return bytes + sizeof(Message); }
  Errno take_error() { return std::exchange(error, Errno{0}); }

  // Connects two ends that nobody has connected yet.
  static void join(LocalEnd& one, LocalEnd& other);
  // A datagram socket's messages go to another one, or to nobody. What waited is lost.
  void follow(Reference<LocalEnd> whom);
  // Of a sender that has claimed its room.
  void add(Reference<Message> message, LocalEnd& sender);
  // The sender has its room back, and who waits for that is told. True: so have others that wait for room here.
  bool remove(Message& message);
  void shut_down(Direction direction);
  // Nobody uses it any more: those at the other end are told. What waits is left to take away: messages and pending.
  void leave(bool was_accepted);

  const SocketKind kind;
  State state = State::unconnected;
  std::uint8_t shut = 0;  // the bits of Direction
  Errno error{0};
  std::uint32_t backlog = 0, pending_count = 0;
  std::uint32_t send_buffer = SocketSettings::usual_buffer;
  std::size_t claimed = 0;  // of it
  Reference<LocalEnd> peer;
  Reference<LocalName> name;
  MessageList messages;
  IntrusiveList<LocalEnd, PendingTag> pending;  // owns them
  IntrusiveList<LocalEnd, SenderTag> senders;
  PollSource source;
};

}  // namespace ingot::os
