#include "os/network/socket/kernel_network.h"

#include "os/boot/kernel.h"
#include "os/network/address_text.h"
#include "os/network/socket/datagram_socket.h"
#include "os/network/socket/stream_socket.h"

namespace ingot::os::network {

KernelNetwork::KernelNetwork(Kernel& kernel)
    : kernel_(kernel), blocks_(kernel.memory->heap()), stack_(*this, this, "ingot") {}

Nanoseconds KernelNetwork::now() { return kernel_.now(); }

void KernelNetwork::fill_random(std::span<std::byte> bytes) { kernel_.random.fill(bytes); }

Answer<void> KernelNetwork::add(DrivenLink& link, const Configuration& wanted) {
  TRY(stack_.drive([&](Stack& stack) { return stack.add(link, wanted); }));
  link.attach(*this);
  return {};
}

void KernelNetwork::run_timers() {
  while (true) {
    alarm_.wait();
    stack_.drive([&](Stack& stack) {
      alarm_.clear();
      stack.run_timers();
    });
  }
}

void KernelNetwork::received(Link& link, std::span<Received> packets) {
  stack_.drive([&](Stack& stack) { stack.received(link, packets); });
}

void KernelNetwork::link_changed(Link& link) {
  stack_.drive([&](Stack& stack) { stack.link_changed(link); });
}

void KernelNetwork::configured(Link& link, const Configuration& now) {
  const std::string_view name = link.properties().name;
  if (!link.is_up()) return kernel_.log.information("network: ", name, " is down");
  for (const AddressWithPrefix& own : now.addresses) {
    kernel_.log.information("network: ", name, " has ", AddressText(own.address), "/", own.prefix_bits);
  }
  for (const IpAddress& gateway : now.gateways) {
    kernel_.log.information("network: ", name, " leads out by ", AddressText(gateway));
  }
}

void KernelNetwork::address_taken(Link& link, const IpAddress& address) {
  kernel_.log.warning("network: ", link.properties().name, ": expected ", AddressText(address),
                      " to be free, found another machine that has it");
}

Answer<Reference<SocketFile>> KernelNetwork::make(const FileServices& services, std::uint16_t family, SocketKind kind,
                                                  std::uint32_t protocol, std::uint32_t flags) {
  const auto is = [&](Protocol wanted) { return protocol == 0 || protocol == static_cast<std::uint32_t>(wanted); };
  switch (kind) {
    case SocketKind::stream:
      if (!is(Protocol::tcp)) return Errno::eprotonosupport;
      return StreamSocket::create(stack_, services, family, flags);
    case SocketKind::datagrams:
      if (!is(Protocol::udp)) return Errno::eprotonosupport;
      return DatagramSocket::create(stack_, services, family, flags);
    case SocketKind::raw: return Errno::eperm;
    default: return Errno::esocktnosupport;
  }
}

}  // namespace ingot::os::network
