// DatagramSocket: UDP as a file.
#pragma once

#include <optional>

#include "os/file/socket/socket_file.h"
#include "os/file/volume.h"
#include "os/network/socket/shared_stack.h"

namespace ingot::os::network {

class DatagramSocket final : public SocketFile, private SocketEvents {
 public:
  static Answer<Reference<SocketFile>> create(SharedStack& stack, const FileServices& services, std::uint16_t family,
                                              std::uint32_t flags);
  DatagramSocket(SharedStack& stack, Udp& udp, Nanoseconds made, std::uint16_t family, std::uint32_t flags);
  ~DatagramSocket();

  Answer<void> bind(const SocketAddress& address) override;
  Answer<void> listen(std::uint32_t) override { return Errno::eopnotsupp; }
  Answer<Reference<SocketFile>> accept(std::uint32_t) override { return Errno::eopnotsupp; }
  Answer<void> connect(const SocketAddress& address) override;
  Answer<void> tell_own_name(SocketAddress& to) override;
  Answer<void> tell_peers_name(SocketAddress& to) override;
  Answer<std::size_t> send(Transfer& from, const Outgoing& how) override;
  Answer<Received> receive(Transfer& to, const Incoming& how) override;
  Answer<void> shut_down(Direction direction) override;
  Errno take_error() override;
  bool listens() override { return false; }
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override;
  std::uint32_t poll() override;
  PollSource* poll_source() override { return &source_; }

 private:
  void changed(std::uint32_t events) override { source_.notify(events); }
  Answer<std::size_t> get_own_option(std::uint32_t level, std::uint32_t option, std::span<std::byte> to) override;
  Answer<void> set_own_option(std::uint32_t level, std::uint32_t option, std::span<const std::byte> value) override;
  void heed_setting(std::uint32_t option) override;
  std::uint8_t* value_of(std::uint32_t level, std::uint32_t option);

  SharedStack& stack_;
  PollSource source_;
  std::optional<UdpSocket> socket_;  // none once the file goes: it ends within the lock
};

}  // namespace ingot::os::network
