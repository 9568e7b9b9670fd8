// TcpListener: a port at which peers may begin connections, and those that wait to be accepted.
#pragma once

#include <cstdint>

#include "base/intrusive_list.h"
#include "os/network/tcp/connection.h"
#include "os/network/tcp/handshake.h"

namespace ingot::os::network {

class TcpListener final : public Binding {
 public:
  TcpListener(Tcp& tcp, const Binding& binding, const TcpOptions& inherited, SocketEvents& events)
      : Binding(binding.any_address().version()), options(inherited), tcp_(tcp), events_(events) {}
  // What waits is reset.
  ~TcpListener();

  // EAGAIN: none waits.
  Answer<Reference<TcpConnection>> accept();
  // How many may wait, within TcpSettings::most_backlog; as on Linux one more does.
  void set_backlog(std::uint32_t backlog);
  std::uint32_t backlog() const { return backlog_; }
  std::uint32_t waiting_count() const { return waiting_count_; }
  std::uint32_t events() const;  // poll_event bits that hold

  TcpOptions options;  // of the connections

 private:
  friend class Tcp;
  friend class Handshake;

  bool is_full() const { return waiting_count_ > backlog_; }
  void push(TcpConnection& connection);

  Tcp& tcp_;
  SocketEvents& events_;
  IntrusiveList<Handshake, HandshakeTag> handshakes_;
  // For accept; each by a reference of the list's own.
  TcpConnection *first_waiting_ = nullptr, *last_waiting_ = nullptr;
  std::uint32_t backlog_ = 0, handshake_count_ = 0, waiting_count_ = 0;
};

}  // namespace ingot::os::network
