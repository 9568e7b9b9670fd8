#include "os/device/virtio/random/virtio_random.h"

#include <gtest/gtest.h>

#include "os/device/virtio/fake_virtio_device.h"

namespace ingot::os {
namespace {

class Random : public VirtioMachine {
 protected:
  Result<void> start(VirtioRandom& random) {
    TRY(random.prepare(virtio_memory()));
    return random.start(interrupts.services());
  }
};

TEST_F(Random, AsksForBytesOnceAndTakesThem) {
  {
    VirtioRandom random(device);
    ASSERT_TRUE(start(random).ok());
    EXPECT_TRUE(device.state.is_running());
    EXPECT_TRUE(random.ask());
    EXPECT_TRUE(random.ask());  // the first is awaited
    FakeVirtioRing& ring = device.state.rings[0];
    const std::uint16_t head = ring.next_chain().value();
    EXPECT_EQ(ring.next_chain(), std::nullopt);
    EXPECT_EQ(device.doorbells[0].writes, 1);
    random.take([](std::span<std::byte>) { FAIL(); });
    const auto buffer = ring.chain(head)[0];
    EXPECT_EQ(buffer.bytes, 64u);
    std::memset(memory.window().at<char>(PhysicalAddress(buffer.address)), 7, 40);
    EXPECT_TRUE(ring.use(head, 40));  // the first one is told by an interrupt
    device.interrupt(0);
    std::size_t taken = 0;
    random.take([&](std::span<std::byte> bytes) {
      taken = bytes.size();
      EXPECT_EQ(bytes[39], std::byte{7});
    });
    EXPECT_EQ(taken, 40u);
    EXPECT_TRUE(random.ask());
    EXPECT_TRUE(ring.next_chain().has_value());
  }
  expect_all_given_back();
}

TEST_F(Random, ADeviceThatSaysItWroteMoreIsStopped) {
  VirtioRandom random(device);
  ASSERT_TRUE(start(random).ok());
  random.ask();
  device.state.rings[0].use(device.state.rings[0].next_chain().value(), 65);
  random.take([](std::span<std::byte>) { FAIL(); });
  EXPECT_FALSE(random.ask());
  EXPECT_EQ(random.fault(), VirtioFault::too_long);
  random.stop();
  EXPECT_FALSE(device.state.is_running());
}

TEST_F(Random, DevicesThatLackSomethingAreRefused) {
  for (int way = 0; way < 3; ++way) {
    FakeVirtioDevice lacking(memory.window());
    if (way == 0) lacking.state.capacity = 0;
    if (way == 1) lacking.interrupts = 0;
    if (way == 2) lacking.state.refused_queue = 0;
    VirtioRandom random(lacking);
    EXPECT_FALSE(start(random).ok());
    EXPECT_FALSE(lacking.state.is_running());
  }
  while (frames.allocate(page_order).ok()) {
  }
  VirtioRandom random(device);
  EXPECT_FALSE(start(random).ok());
}

}  // namespace
}  // namespace ingot::os
