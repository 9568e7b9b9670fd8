// A network card asks the emulator's own network who 10.0.2.2 is, and is answered, more often than its rings are long.
//
// boot-test: success
// boot-test: machine q35
// boot-test: qemu -netdev user,id=net,ipv6=off
// boot-test: device virtio-net-BUS,netdev=net,mac=52:54:00:12:34:56
// boot-test: qemu -global virtio-mmio.force-legacy=false
// boot-test: expect eth0: virtio, MTU 1500
// boot-test: expect arp: 600 answers
#include "base/atomic.h"
#include "os/boot/kernel.h"
#include "os/device/pci/pci_subsystem.h"
#include "os/device/virtio/virtio_subsystem.h"
#include "os/network/driven_link.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

using network::ArpPacket, network::EthernetHeader, network::HardwareAddress;

constexpr std::array<std::uint8_t, 4> ours{10, 0, 2, 15}, gateway{10, 0, 2, 2};
constexpr HardwareAddress gateway_hardware{0x52, 0x55, 10, 0, 2, 2};
constexpr std::uint32_t question_count = 600;

class Asker final : public network::LinkUser {
 public:
  void received(network::Link&, std::span<network::Received> packets) override {
    for (network::Received& packet : packets) {
      ArpPacket answer{};
      const std::span<std::byte> bytes = packet.bytes.front(sizeof(EthernetHeader) + sizeof answer);
      if (!bytes.empty()) __builtin_memcpy(&answer, bytes.data() + sizeof(EthernetHeader), sizeof answer);
      packet.bytes.clear();  // before it counts: who waits for the last one looks for leaks then
      look_at(answer);
    }
  }
  void link_changed(network::Link&) override {}

  // Sleeps until there are so many answers.
  void await(Kernel& kernel, std::uint32_t count) {
    const Nanoseconds deadline = kernel.now() + Nanoseconds(20'000'000'000);
    if (!answered_.wait_until([&] { return answers_.load(MemoryOrder::acquire) >= count; }, deadline)) {
      panic("expected ", count, " answers, found ", answers_.load(MemoryOrder::acquire));
    }
  }

 private:
  void look_at(const ArpPacket& answer) {
    if (answer.operation != ArpPacket::reply || answer.sender != gateway) return;
    if (answer.sender_hardware != gateway_hardware) panic("expected the gateway's address, found another");
    answers_.fetch_add(1, MemoryOrder::release);
    answered_.wake_all();
  }

  Atomic<std::uint32_t> answers_;
  WaitQueue answered_;
};

bool ask(network::Link& link) {
  network::Outgoing packet;
  auto& question = packet.push_header<ArpPacket>();
  question = {1, 0x0800, 6, 4, ArpPacket::request, link.properties().address, ours, {}, gateway};
  auto& ethernet = packet.push_header<EthernetHeader>();
  ethernet = {network::everybody, link.properties().address, static_cast<std::uint16_t>(network::FrameKind::arp)};
  const bool sent = link.send(packet);
  link.flush();
  return sent;
}

}  // namespace

constinit const Subsystem* const linked_subsystems[] = {&pci_subsystem, &virtio_subsystem, nullptr};

void run_payload(Kernel& kernel) {
  if (kernel.links == nullptr) panic("expected a network card, found none");
  DrivenLink& link = *kernel.links;
  alignas(Asker) static std::byte room[sizeof(Asker)];  // it stays while the link does
  Asker& asker = *std::construct_at(reinterpret_cast<Asker*>(room));
  link.attach(asker);
  for (std::uint32_t asked = 1; asked <= question_count; ++asked) {
    if (!ask(link)) panic("expected room for a frame, found none");
    asker.await(kernel, asked);
  }
  kernel.log.information("arp: ", question_count, " answers");
}

}  // namespace ingot::os
