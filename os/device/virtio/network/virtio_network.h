// VirtioNetwork: a network card (virtio 1.2, 5.1) as a link. Each pair of its queues belongs to one CPU: what a CPU
// sends goes by its own pair, and what comes by a pair is handed over by that pair's thread there.
//
//   interrupt -> notice -> [thread: work: packets to the LinkUser, room to whoever waits for it] -> asleep again
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/atomic.h"
#include "os/device/virtio/network/virtio_receiver.h"
#include "os/device/virtio/network/virtio_sender.h"
#include "os/network/driven_link.h"
#include "os/schedule/wait_queue.h"
#include "os/trace/log.h"

namespace ingot::os {

class VirtioNetwork final : public DrivenLink {
 public:
  class Pair final : private Timer {
   public:
    Pair(VirtioNetwork& card, const VirtioMemory& memory, const VirtioNetworkSettings& settings,
         network::HeapBlocks& blocks)
        : network(card), receiver(memory, settings, blocks), sender(LockRank::device, memory, settings, blocks) {}

    // Once, by its thread, which from then on looks at the rings every so often though no interrupt came: emulators
    // do not all keep the order in which it asks for one and looks whether it must (QEMU before 8.1, with one CPU).
    void begin();

    VirtioNetwork& network;
    VirtioReceiver receiver;
    Locked<VirtioSender> sender;
    Atomic<bool> unflushed, interrupted;
    WaitQueue sleeping;

   private:
    std::optional<Nanoseconds> expired() override;

    Thread* thread_ = nullptr;
  };

  VirtioNetwork(VirtioDevice& device, const VirtioMemory& memory, Log& log)
      : device_(device), memory_(memory), log_(log), heap_blocks_(memory.heap) {}

  // Everything that can be refused for want of memory, before the device is told of anything that lies here. As many
  // pairs as device, interrupts and CPUs allow.
  Result<void> prepare(std::string_view name, const network::HardwareAddress& fallback, std::size_t cpus);
  // From now on packets come and go. pairs()[i] is to be served on CPU i.
  Result<void> start(const VirtioDevice::InterruptServices& services);
  std::span<Pair> pairs() const { return pairs_.all().first(pair_count_); }

  // What a pair's thread does in turns: work, and sleep where it returns false. True: there is more to do.
  bool work(Pair& pair);
  static void sleep(Pair& pair);

  const network::LinkProperties& properties() const override { return settings_.link; }
  bool is_up() const override { return up_.load(MemoryOrder::acquire); }
  bool send(const network::Outgoing& packet) override;
  void flush() override;
  void attach(network::LinkUser& user) override { user_.store(&user, MemoryOrder::release); }
  void detach(Detaching detaching) override;

  // Devices that broke the rules: none, or this one, once for each queue that it did so in.
  std::uint32_t faults() const { return faults_.load(MemoryOrder::relaxed); }

 private:
  static void on_queues(void* context, arch::TrapFrame&);
  static void on_configuration(void* context, arch::TrapFrame&);
  static void wake(Pair& pair);
  Result<void> enable_queues();
  bool use_pairs();
  void look_at_status();
  void stop(VirtioFault fault);

  VirtioDevice& device_;
  VirtioMemory memory_;
  Log& log_;
  network::HeapBlocks heap_blocks_;
  VirtioNetworkSettings settings_;
  HeapArray<Pair> pairs_;
  std::uint16_t pair_count_ = 0;
  VirtioQueueMemory control_;  // where there are several pairs
  Atomic<network::LinkUser*> user_{nullptr};
  Atomic<bool> up_, stopped_, configuration_changed_;
  Atomic<std::uint32_t> faults_;
};

}  // namespace ingot::os
