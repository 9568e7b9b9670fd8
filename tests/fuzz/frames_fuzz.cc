// Any frames, at any times, leave the network's stack whole: memory bounded, and all of it returned at the end.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "os/network/stack.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;
using namespace ingot::os;
using namespace ingot::os::network;

namespace {

class HostHeap final : public CountingAllocator {
 public:
  HostHeap() : CountingAllocator(Poison::off) {}

 private:
  void* take(std::size_t bytes, std::size_t alignment) override {
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void give_back(void* block, std::size_t, std::size_t) override { std::free(block); }
};

class FuzzMachine final : public Machine {
 public:
  Nanoseconds now() override { return time; }
  void fill_random(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) byte = std::byte{0x5a};  // so that an input can know them
  }
  HeapBlocks& blocks() override { return blocks_; }
  void wake_at(Nanoseconds when) override { wake = std::min(wake, when); }

  HostHeap heap;
  Nanoseconds time, wake = forever;

 private:
  HeapBlocks blocks_{heap};
};

class SilentLink final : public Link {
 public:
  const LinkProperties& properties() const override { return own_; }
  bool is_up() const override { return true; }
  bool send(const Outgoing& packet) override {
    if (packet.bytes() > 1514) std::abort();
    return true;
  }
  void flush() override {}

 private:
  LinkProperties own_{"eth0", true, {2, 0, 0, 0, 0, 1}};
};

// IPv4's sum made right, so that what is wrong elsewhere is seen.
void mend(std::span<std::byte> frame) {
  constexpr std::size_t begin = sizeof(EthernetHeader), field = begin + 10;
  if (frame.size() < begin + sizeof(Ipv4Header) || frame[12] != std::byte{8} || frame[13] != std::byte{0}) return;
  const std::size_t bytes = std::to_integer<std::size_t>(frame[begin] & std::byte{0xf}) * 4;
  Checksum sum;
  frame[field] = frame[field + 1] = std::byte{0};
  sum.add(frame.subspan(begin, std::min(bytes, frame.size() - begin)));
  const Big16 result = sum.result();
  std::memcpy(&frame[field], &result, sizeof result);
}

void feed(ByteSource& source, FuzzMachine& machine, SilentLink& link) {
  const TcpSettings settings;
  Stack stack(machine, settings, nullptr, "guest");
  Configuration wanted;
  wanted.addresses.push_back({IpAddress::v4(192, 0, 2, 1), 24});
  wanted.asks_dhcp = true;
  if (!stack.add(link, wanted).ok()) std::abort();
  while (!source.empty()) {
    machine.time += Nanoseconds(source.take<std::uint8_t>() * 100'000'000ll);
    if (machine.wake <= machine.time) {
      machine.wake = forever;
      stack.run_timers();
    }
    const std::size_t bytes = source.take<std::uint8_t>() * 4u;
    Reference<Block> block = machine.blocks().create(bytes + 1).value();
    for (std::byte& byte : block->bytes()) byte = std::byte{source.take<std::uint8_t>()};
    mend(block->bytes());
    Received packet{ByteChain(machine.blocks())};
    packet.transport_verified = true;
    if (!packet.bytes.add(block, block->bytes()).ok()) std::abort();
    stack.received(link, std::span(&packet, 1));
    if (machine.heap.statistics().live_bytes > 1 << 20) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  FuzzMachine machine;
  SilentLink link;
  feed(source, machine, link);
  return machine.heap.expect_no_leak().ok() ? 0 : (std::abort(), 0);
}
