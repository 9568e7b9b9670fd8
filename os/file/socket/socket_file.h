// SocketFile: a socket of any family as the calls see it. A family (socket_family.h) makes them; sockets within the
// program are local_socket.h's.
//
// None of its functions sleeps. EAGAIN: not now, and the poll source says when to try again. A connect that takes time
// answers EINPROGRESS, then EALREADY, and in the end once what came of it; a socket that poll() calls writable or in
// error has come to that end.
#pragma once

#include "os/file/file_description.h"
#include "os/file/socket/socket_address.h"
#include "os/file/socket/socket_settings.h"

namespace ingot::os {

enum class SocketKind : std::uint8_t {
  stream = 1,     // SOCK_STREAM: bytes in order, without borders
  datagrams = 2,  // SOCK_DGRAM: messages
  raw = 3,        // SOCK_RAW
  packets = 5,    // SOCK_SEQPACKET: messages of a connection that ends
};

class SocketFile : public FileDescription {
 public:
  enum class Direction : std::uint8_t { receiving = 1, sending = 2, both = 3 };  // as bits
  struct Sort {
    std::uint16_t family = 0;
    SocketKind kind = SocketKind::stream;
    std::uint32_t protocol = 0;
  };
  struct Outgoing {
    const SocketAddress* to = nullptr;  // none: whom it is connected to
    bool more = false;                  // MSG_MORE: there is more to come at once
  };
  struct Incoming {
    Reading reading = Reading::takes;
    SocketAddress* from = nullptr;  // where to tell the sender's address, if somebody asks; of none, size 0
  };
  struct Received {
    std::size_t moved = 0;
    std::size_t message_bytes = 0;  // more where the message was cut
  };

  const Sort& sort() const { return sort_; }
  SocketKind kind() const { return sort_.kind; }
  SocketSettings& settings() { return settings_; }
  SocketFile* as_socket() final { return this; }
  Answer<FileStatus> status() final;
  std::string_view anonymous_name() const final { return "socket:[1]"; }
  // A message is moved as a whole or not at all.
  bool is_moved_whole() const final { return sort_.kind != SocketKind::stream; }

  virtual Answer<void> bind(const SocketAddress& address) = 0;
  virtual Answer<void> listen(std::uint32_t backlog) = 0;
  // `flags`: open_flag::non_blocking or nothing.
  virtual Answer<Reference<SocketFile>> accept(std::uint32_t flags) = 0;
  virtual Answer<void> connect(const SocketAddress& address) = 0;
  virtual Answer<void> tell_own_name(SocketAddress& to) = 0;
  virtual Answer<void> tell_peers_name(SocketAddress& to) = 0;
  virtual Answer<std::size_t> send(Transfer& from, const Outgoing& how) = 0;
  virtual Answer<Received> receive(Transfer& to, const Incoming& how) = 0;
  // No more in that direction, whatever other descriptors there are.
  virtual Answer<void> shut_down(Direction direction) = 0;
  // Nobody has it any more but who closes it. EAGAIN: what was sent is still on its way, and the poll source says when
  // to look again.
  virtual Answer<void> let_go() { return {}; }
  // What went wrong since the last time that it was told (SO_ERROR); 0: nothing.
  virtual Errno take_error() = 0;
  virtual bool listens() = 0;
  // Whether SO_PEERCRED knows who is at the other end.
  virtual bool knows_peer() { return false; }
  // Tells, beside the poll source, those that wait for room at somebody else's: to send, or to connect.
  virtual PollSource* room_source() { return nullptr; }

  // By Linux's numbers, which bytes to expect included. Answers how many bytes were told.
  Answer<std::size_t> get_option(std::uint32_t level, std::uint32_t option, std::span<std::byte> to);
  Answer<void> set_option(std::uint32_t level, std::uint32_t option, std::span<const std::byte> value);

 protected:
  SocketFile(const Sort& sort, std::uint32_t flags, Nanoseconds made)
      : FileDescription(flags | open_flag::read_write), sort_(sort), made_(made) {}
  ~SocketFile() = default;

  // Those of other levels than SOL_SOCKET, and of that one those that not every socket has, or of which the family
  // knows more.
  virtual Answer<std::size_t> get_own_option(std::uint32_t level, std::uint32_t, std::span<std::byte>) {
    return level == socket_option::level ? Errno::enoprotoopt : Errno::eopnotsupp;
  }
  virtual Answer<void> set_own_option(std::uint32_t level, std::uint32_t, std::span<const std::byte>) {
    return level == socket_option::level ? Errno::enoprotoopt : Errno::eopnotsupp;
  }
  // One of the settings was changed.
  virtual void heed_setting(std::uint32_t) {}

 private:
  Answer<std::size_t> read_bytes(Transfer& to) final { return TRY(receive(to, {})).moved; }
  Answer<std::size_t> write_bytes(Transfer& from) final { return send(from, {}); }
  Answer<std::size_t> get_common_option(std::uint32_t option, std::span<std::byte> to);
  Answer<void> set_common_option(std::uint32_t option, std::span<const std::byte> value);
  void set_buffer(std::uint32_t option, std::int32_t wanted);

  Sort sort_;
  SocketSettings settings_;
  Nanoseconds made_;
};

}  // namespace ingot::os
