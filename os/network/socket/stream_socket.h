// StreamSocket: TCP as a file. It is one of three: not connected, a listener, or a connection, which may have ended.
#pragma once

#include "os/file/socket/socket_file.h"
#include "os/file/volume.h"
#include "os/network/socket/shared_stack.h"

namespace ingot::os::network {

class StreamSocket final : public SocketFile, private SocketEvents {
 public:
  // ENOMEM. Not connected.
  static Answer<Reference<SocketFile>> create(SharedStack& stack, const FileServices& services, std::uint16_t family,
                                              std::uint32_t flags);
  StreamSocket(SharedStack& stack, const FileServices& services, std::uint16_t family, std::uint32_t flags);
  ~StreamSocket();

  Answer<void> bind(const SocketAddress& address) override;
  Answer<void> listen(std::uint32_t backlog) override;
  Answer<Reference<SocketFile>> accept(std::uint32_t flags) override;
  Answer<void> connect(const SocketAddress& address) override;
  Answer<void> tell_own_name(SocketAddress& to) override;
  Answer<void> tell_peers_name(SocketAddress& to) override;
  Answer<std::size_t> send(Transfer& from, const Outgoing& how) override;
  Answer<Received> receive(Transfer& to, const Incoming& how) override;
  Answer<void> shut_down(Direction direction) override;
  Answer<void> let_go() override;
  Errno take_error() override;
  bool listens() override;
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override;
  std::uint32_t poll() override;
  PollSource* poll_source() override { return &source_; }

 private:
  // What it is before it is connected, and as a listener. An accepted socket never is, and has no memory for it.
  struct Unconnected {
    explicit Unconnected(IpVersion version) : binding(version) {}
    Binding binding;
    TcpOptions options;
    Owned<TcpListener> listener;  // has the binding's place, and options of its own
  };

  void changed(std::uint32_t events) override { source_.notify(events); }
  Answer<std::size_t> get_own_option(std::uint32_t level, std::uint32_t option, std::span<std::byte> to) override;
  Answer<void> set_own_option(std::uint32_t level, std::uint32_t option, std::span<const std::byte> value) override;
  void heed_setting(std::uint32_t option) override;

  // Of these, who calls is within the lock.
  Answer<void> become_unconnected(const TcpOptions& options);
  Answer<void> begin_connection(Stack& stack, const Endpoint& to, Nanoseconds now);
  Answer<void> disconnect(Nanoseconds now);
  const TcpOptions& options() const;
  std::uint32_t buffer_bytes(std::uint32_t option, const TcpSettings& settings) const;
  std::int32_t segment_bytes(Nanoseconds now) const;
  void set_options(const TcpOptions& options, Nanoseconds now);
  Endpoint local() const;
  bool is_connecting() const;
  TcpListener* listener() const { return unconnected_ ? unconnected_->listener.get() : nullptr; }

  SharedStack& stack_;
  const FileServices& services_;
  PollSource source_;
  Owned<Unconnected> unconnected_;
  Reference<TcpConnection> connection_;
  bool connect_was_told_ = false;
};
static_assert(sizeof(StreamSocket) <= 192, "a class of the slabs; there may be tens of thousands");

}  // namespace ingot::os::network
