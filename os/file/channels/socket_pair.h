// A pair of sockets that are connected to each other and to nobody else: what one sends, the other receives.
#pragma once

#include "base/atomic.h"
#include "os/file/file_description.h"
#include "os/file/volume.h"

namespace ingot::os {

enum class SocketKind : std::uint32_t {
  stream = 1,     // SOCK_STREAM: bytes in order, without borders
  datagrams = 2,  // SOCK_DGRAM: messages
  packets = 5,    // SOCK_SEQPACKET: messages of a connection that ends
};

// What the two ends share. Who waits for either is told of every change of both: that is looked at again anyway.
class SocketPairState final : public Shared {
 public:
  PollSource source;
  Atomic<bool> was_reset[2];
};

class SocketFile : public FileDescription {
 public:
  SocketKind kind() const { return kind_; }
  SocketFile* as_socket() override { return this; }
  Answer<FileStatus> status() override {
    FileStatus status;
    status.kind = FileKind::socket;
    status.permissions = 0777;
    status.inode = static_cast<std::uint64_t>(made_.count());
    status.times = {made_, made_, made_};
    return status;
  }
  std::string_view anonymous_name() const override { return "socket:[1]"; }

  enum class Direction : std::uint8_t { receiving, sending };
  // No more in that direction, whatever other descriptors there are.
  virtual void shut_down(Direction direction) = 0;

  struct Received {
    std::size_t moved = 0;
    std::size_t message_bytes = 0;  // more where the message was cut
  };
  virtual Answer<Received> receive(Transfer& to, Reading reading) = 0;

  // The other end was closed before it had read everything. It is told once (ECONNRESET), by a reading or by SO_ERROR.
  bool take_reset() { return pair_->was_reset[end_].exchange(false, MemoryOrder::acquire_release); }

  PollSource* poll_source() override { return &pair_->source; }

 protected:
  // `end`: 0 or 1.
  SocketFile(SocketKind kind, Reference<SocketPairState> pair, unsigned end, std::uint32_t flags, Nanoseconds made)
      : FileDescription(flags | open_flag::read_write), kind_(kind), pair_(std::move(pair)), end_(end), made_(made) {}
  ~SocketFile() = default;

  bool was_reset() const { return pair_->was_reset[end_].load(MemoryOrder::acquire); }
  void reset_other() { pair_->was_reset[1 - end_].store(true, MemoryOrder::release); }

 private:
  Answer<std::size_t> read_bytes(Transfer& to) override { return TRY(receive(to, Reading::takes)).moved; }

  SocketKind kind_;
  Reference<SocketPairState> pair_;
  unsigned end_;
  Nanoseconds made_;
};

struct SocketPair {
  Reference<FileDescription> one, other;
};

// `flags`: open_flag::non_blocking or nothing.
Answer<SocketPair> make_stream_pair(const FileServices& services, std::uint32_t flags);
Answer<SocketPair> make_packet_pair(const FileServices& services, SocketKind kind, std::uint32_t flags);

}  // namespace ingot::os
