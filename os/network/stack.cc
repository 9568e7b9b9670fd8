#include "os/network/stack.h"

namespace ingot::os::network {

Stack::Stack(Machine& machine, const TcpSettings& settings, ConfigurationEvents* listener, std::string_view host_name)
    : machine_(machine),
      timers_(machine),
      internet_(machine, timers_, listener, host_name),
      tcp_(machine, internet_, timers_, settings),
      udp_(machine, internet_) {
  internet_.attach(Protocol::tcp, tcp_);
  internet_.attach(Protocol::udp, udp_);
}

Answer<void> Stack::add(Link& link, const Configuration& wanted) {
  const Nanoseconds now = machine_.now();
  TRY(internet_.add(link, wanted, now));
  finish(now);
  return {};
}

void Stack::received(Link& link, std::span<Received> packets) {
  const Nanoseconds now = machine_.now();
  for (Received& packet : packets) internet_.received(link, packet, now);
  finish(now);
}

void Stack::link_changed(Link& link) {
  const Nanoseconds now = machine_.now();
  internet_.link_changed(link, now);
  tcp_.link_changed(now);
  finish(now);
}

void Stack::run_timers() {
  const Nanoseconds now = machine_.now();
  timers_.run(now);
  finish(now);
}

void Stack::finish(Nanoseconds now) {
  LoopLink& loop = internet_.loop();
  std::size_t left = InternetSettings::looped_at_once;
  for (;;) {
    tcp_.send_pending(now);
    if (loop.is_empty() || left == 0) break;
    for (; !loop.is_empty() && left != 0; --left) {
      loop.take([&](Received& packet) { internet_.received(loop, packet, now); });
    }
    if (loop.is_empty() && loop.take_refusal()) tcp_.link_changed(now);
  }
  // Two programs of ours that never stop talking must not keep the network from everybody else.
  if (!loop.is_empty()) timers_.set(*this, now);
  internet_.routes().for_each([](Interface& interface) { interface.link.flush(); });
  internet_.tell_changes();
}

}  // namespace ingot::os::network
