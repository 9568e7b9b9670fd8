// LocalSocket: a socket of AF_UNIX as a file.
#pragma once

#include "os/file/socket/local_sockets.h"
#include "os/schedule/mutex.h"

namespace ingot::os {

class LocalSocket final : public SocketFile {
 public:
  LocalSocket(LocalSockets& all, Reference<LocalEnd> end, std::uint32_t flags, Nanoseconds made);
  ~LocalSocket();

  LocalEnd& end() { return *end_; }

  Answer<void> bind(const SocketAddress& address) override;
  Answer<void> listen(std::uint32_t backlog) override;
  Answer<Reference<SocketFile>> accept(std::uint32_t flags) override;
  Answer<void> connect(const SocketAddress& address) override;
  Answer<void> tell_own_name(SocketAddress& to) override;
  Answer<void> tell_peers_name(SocketAddress& to) override;
  Answer<std::size_t> send(Transfer& from, const Outgoing& how) override;
  Answer<Received> receive(Transfer& to, const Incoming& how) override;
  Answer<void> shut_down(Direction direction) override;
  Errno take_error() override;
  bool listens() override;
  bool knows_peer() override;
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override;
  std::uint32_t poll() override;
  PollSource* poll_source() override { return &end_->source; }
  PollSource* room_source() override { return &all_.room(); }

 private:
  void heed_setting(std::uint32_t option) override;
  Answer<void> follow(const SocketAddress& address);
  Answer<Reference<LocalEnd>> receiver(const Outgoing& how);
  Answer<std::size_t> send_message(Transfer& from, std::size_t bytes, LocalEnd& to);
  Answer<Received> receive_stream(Transfer& to, const Incoming& how);
  Answer<Received> receive_message(Transfer& to, const Incoming& how);
  std::size_t waiting();

  LocalSockets& all_;
  Reference<LocalEnd> end_;
  Mutex reading_{LockRank::file_data};  // two that read a stream get its bytes in order
};

}  // namespace ingot::os
