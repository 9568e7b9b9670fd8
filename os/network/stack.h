// Stack: the network of a machine. Links hand packets to it, sockets send by its transports, its timers run when the
// machine is told to; each such call ends with finish().
#pragma once

#include <string_view>

#include "os/network/internet/internet_layer.h"
#include "os/network/tcp/tcp.h"
#include "os/network/udp/udp.h"

namespace ingot::os::network {

class Stack final : public LinkUser, NetworkTimer {
 public:
  // `listener`: may be nullptr. `settings` outlives the stack, which outlives sockets.
  Stack(Machine& machine, const TcpSettings& settings, ConfigurationEvents* listener, std::string_view host_name);
  ~Stack() { timers_.clear(*this); }

  // As InternetLayer's.
  Answer<void> add(Link& link, const Configuration& wanted);

  void received(Link& link, std::span<Received> packets) override;
  void link_changed(Link& link) override;
  void run_timers();
  // After every other call that may have sent something: what we sent to ourselves arrives, transports send what became
  // possible by it, and links are told that there is no more for now.
  void finish() { finish(machine_.now()); }

  InternetLayer& internet() { return internet_; }
  Tcp& tcp() { return tcp_; }
  Udp& udp() { return udp_; }

 private:
  void finish(Nanoseconds now);
  // It only brings run_timers() about.
  void expired(Nanoseconds) override {}

  Machine& machine_;
  NetworkTimers timers_;
  InternetLayer internet_;
  Tcp tcp_;
  Udp udp_;
};

}  // namespace ingot::os::network
