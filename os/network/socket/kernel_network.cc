#include "os/network/socket/kernel_network.h"

#include "os/boot/kernel.h"
#include "os/network/address_text.h"
#include "os/network/socket/datagram_socket.h"
#include "os/network/socket/stream_socket.h"
#include "os/schedule/sleep.h"

namespace ingot::os::network {

namespace {

bool is_complete(const Configuration& now) {
  bool has_v4 = false, has_v6 = false;
  for (const AddressWithPrefix& own : now.addresses) {
    if (!own.address.is_link_local()) (own.address.is_v4() ? has_v4 : has_v6) = true;
  }
  return (has_v4 || has_v6) && (has_v4 || !now.asks_dhcp) && (has_v6 || !now.asks_routers);
}

}  // namespace

KernelNetwork::KernelNetwork(Kernel& kernel)
    : kernel_(kernel),
      memory_(kernel.memory->heap(), kernel.boot_info.memory.bytes_of(MemoryKind::usable) / SocketMemory::share),
      blocks_(kernel.memory->heap(), &memory_),
      stack_(*this, this, "ingot") {}

Nanoseconds KernelNetwork::now() { return kernel_.now(); }

void KernelNetwork::fill_random(std::span<std::byte> bytes) { kernel_.random.fill(bytes); }

void KernelNetwork::begin() { in_use_before_ = kernel_.memory->in_use(); }

// What the card has not read yet, and what its threads have in hand, is waited for.
void KernelNetwork::stop() {
  using Detaching = DrivenLink::Detaching;
  constexpr int most_tries = 100;
  stack_.end();
  kernel_.log.information("network: at most ", memory_.peak() >> 10, " KiB of sockets");
  MemoryInUse now;
  for (int tries = 0; tries < most_tries; ++tries) {
    const Detaching detaching = tries == most_tries / 2 ? Detaching::stops : Detaching::waits;
    for (DrivenLink* link = kernel_.links; link != nullptr; link = link->next) link->detach(detaching);
    now = kernel_.memory->in_use();
    if (now == in_use_before_) return;
    sleep_thread_until(kernel_.now() + milliseconds(1));
  }
  kernel_.log.error("leak: expected ", in_use_before_.heap_blocks, " heap blocks of ", in_use_before_.heap_bytes,
                    " bytes and ", in_use_before_.frames, " frames in use, found ", now.heap_blocks, " of ",
                    now.heap_bytes, " and ", now.frames);
}

Answer<void> KernelNetwork::add(DrivenLink& link, const Configuration& wanted) {
  TRY(stack_.drive([&](Stack& stack) { return stack.add(link, wanted); }));
  link.attach(*this);
  return {};
}

void KernelNetwork::run_timers() {
  while (true) {
    alarm_.wait();
    stack_.drive_if_there([&](Stack& stack) {
      alarm_.clear();
      stack.run_timers();
    });
  }
}

void KernelNetwork::received(Link& link, std::span<Received> packets) {
  stack_.drive_if_there([&](Stack& stack) { stack.received(link, packets); });
}

void KernelNetwork::link_changed(Link& link) {
  stack_.drive_if_there([&](Stack& stack) { stack.link_changed(link); });
}

bool KernelNetwork::await_addresses(Nanoseconds until) {
  return for_addresses_.wait_until([&] { return has_addresses_.load(MemoryOrder::acquire); }, until);
}

void KernelNetwork::configured(Link& link, const Configuration& now) {
  if (is_complete(now)) {
    for_addresses_.wake_all_after([&] { has_addresses_.store(true, MemoryOrder::release); });
  }
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

void KernelNetwork::charge_to(ProgramAccount* account) {
  stack_.drive([&](Stack&) { memory_.charge_to(account); });
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
