// A device that writes anything into its rings, its buffers and its configuration: the driver stays within its memory,
// in bounded time, and what it hands over lies in buffers that the device was given.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "os/device/virtio/network/virtio_network.h"
#include "os/device/virtio/virtio_mmio.h"
#include "os/device/virtio/virtio_places.h"
#include "os/memory/fake_memory.h"
#include "os/memory/slab_allocator.h"
#include "os/schedule/scheduler.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;
using namespace ingot::os;

namespace {

// Every reading is the next bytes, but for what a start needs; queues are where the driver says.
class HostileRegisters final : public VirtioRegisters {
 public:
  HostileRegisters(ByteSource& source, PhysicalWindow window) : source_(source), window_(window) {}

  std::uint32_t read(std::uint32_t offset, std::uint32_t) const override {
    if (offset == VirtioMmio::layout.status.offset) return status_;
    if (offset == VirtioMmio::layout.queue_enabled.offset) return 1;
    if (offset == VirtioMmio::layout.offered.offset && word_ == 1) return 1;
    return source_.take<std::uint32_t>();
  }
  void write(std::uint32_t offset, std::uint32_t, std::uint32_t value) override {
    if (offset == VirtioMmio::layout.status.offset) status_ = value;
    if (offset == VirtioMmio::layout.offered_selector.offset) word_ = value;
    if (offset == VirtioMmio::layout.queue_selector.offset) queue_ = value;
    if (offset != VirtioMmio::layout.queue_descriptors.offset || queue_ >= 2) return;
    rings[queue_] = window_.at<std::uint8_t>(PhysicalAddress(value));
  }
  std::uint32_t size() const override { return VirtioMmio::register_bytes; }

  std::uint8_t* rings[2] = {};

 private:
  ByteSource& source_;
  PhysicalWindow window_;
  std::uint32_t status_ = 0, word_ = 0, queue_ = 0;
};

class NoController final : public InterruptController {
 public:
  std::string_view name() const override { return "none"; }
  InterruptLine isa_line(std::uint8_t number) const override { return {number}; }
  std::optional<std::uint8_t> fixed_vector(const InterruptLine&) const override { return std::nullopt; }
  Result<void> route(const InterruptLine&, std::uint8_t, std::uint32_t) override { return {}; }
  void mask(std::uint32_t) override {}
  void unmask(std::uint32_t) override {}
  Result<InterruptMessage> message(std::uint8_t, std::uint32_t) const override { return InterruptMessage(); }
  void send(std::uint32_t, std::uint8_t) override {}
  void stop_others() override {}
  bool is_spurious(std::uint64_t) override { return false; }
  void end_of_interrupt(std::uint64_t) override {}
};

class User final : public network::LinkUser {
 public:
  void received(network::Link&, std::span<network::Received> packets) override {
    for (network::Received& packet : packets) {
      std::uint64_t bytes = 0;
      packet.bytes.visit(0, packet.bytes.bytes(), [&](network::Block& block, std::span<std::byte> part) {
        const std::span<std::byte> all = block.bytes();
        if (part.data() < all.data() || part.data() + part.size() > all.data() + all.size()) std::abort();
        bytes += part.size();
      });
      if (bytes != packet.bytes.bytes() || bytes == 0) std::abort();
    }
  }
  void link_changed(network::Link&) override {}
};

// One thing that a device may do to the memory of a queue.
void scribble(ByteSource& source, std::uint8_t* ring) {
  const std::uint16_t where = source.take<std::uint16_t>();
  const std::uint32_t value = source.take<std::uint8_t>();
  const auto put = [&](std::uint64_t at, auto number) {
    std::memcpy(ring + at % (VirtioQueue::memory_bytes - sizeof number), &number, sizeof number);
  };
  switch (source.take<std::uint8_t>() % 5) {
    case 0: put(VirtioQueue::used_at + 2, static_cast<std::uint16_t>(value)); break;
    case 1: put(VirtioQueue::used_at + 4 + where % 64 * 8, value); break;
    case 2: put(VirtioQueue::used_at + 8 + where % 64 * 8, value * 32); break;
    case 3: put(where, value); break;
    default: put(VirtioQueue::used_at + 2, static_cast<std::uint16_t>(where));
  }
}

void drive(ByteSource& source, VirtioNetwork& card, HostileRegisters& device, network::HeapBlocks& blocks) {
  network::ByteChain chain(blocks);
  for (int i = 0; i < 20; ++i) {
    auto block = blocks.create(64);
    if (!block.ok()) return;
    const std::span<std::byte> all = block.value()->bytes();
    if (!chain.add(std::move(block).value(), all).ok()) return;
  }
  while (!source.empty()) {
    const std::uint8_t act = source.take<std::uint8_t>();
    if (act % 4 < 2) scribble(source, device.rings[act % 2]);
    if (act % 4 == 2) {
      network::Outgoing packet;
      packet.push_bytes(14);
      packet.chain = &chain;
      packet.payload_bytes = std::min<std::uint32_t>(act * 8u, static_cast<std::uint32_t>(chain.bytes()));
      static_cast<void>(card.send(packet));
      card.flush();
    }
    if (act % 4 == 3) card.work(card.pairs()[0]);
  }
}

void fuzz_words(const std::uint8_t* data, std::size_t size) {
  VirtioPlaceWords words({reinterpret_cast<const char*>(data), size});
  while (true) {
    const auto place = words.next();
    if (!place.ok()) continue;
    if (!place.value()) return;
    if (place.value()->bytes < 0x100 || place.value()->begin + place.value()->bytes < place.value()->begin)
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_words(data, size);
  ByteSource source(data, size);
  Processor processor(0);
  arch::set_current_cpu(processor);
  FakeMemory memory(4 * mib);
  FrameAllocator frames = frames_of(memory);
  SlabAllocator heap(frames, memory.window(), Poison::on);
  {
    HostileRegisters registers(source, memory.window());
    VirtioMmio device(registers, registers, InterruptLine{5});
    Log log;
    User user;
    network::HeapBlocks blocks(heap);  // outlives the card, which holds on to what it sends
    VirtioNetwork card(device, {frames, memory.window(), heap}, log);
    InterruptTable table;
    FakeMemory other(2 * mib);
    KernelMemory kernel(frames_of(other), other.window(), PhysicalAddress(mib), PageSize::giant, Poison::off);
    NoController controller;
    if (card.prepare("eth0", {2}, 1).ok() && card.start({controller, table, kernel}).ok()) {
      card.attach(user);
      drive(source, card, registers, blocks);
    }
  }
  if (!heap.expect_no_leak().ok()) std::abort();
  arch::hosted::thread.header = nullptr;
  return 0;
}
