// The two ways to a device, against registers that tests hold.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "os/device/pci/fake_pci.h"
#include "os/device/virtio/fake_virtio_device.h"
#include "os/device/virtio/virtio_mmio.h"
#include "os/device/virtio/virtio_pci.h"
#include "os/memory/fake_memory.h"
#include "os/schedule/test_heap.h"

namespace ingot::os {
namespace {

// Values by their offset; writes are kept in order. A width other than the expected is a mistake of the driver.
class ScriptedRegisters final : public VirtioRegisters {
 public:
  using Write = std::pair<std::uint32_t, std::uint32_t>;

  explicit ScriptedRegisters(std::uint32_t size) : size_(size) {}
  std::uint32_t read(std::uint32_t offset, std::uint32_t bytes) const override {
    EXPECT_TRUE(has(offset, bytes));
    check_width(offset, bytes);
    if (on_read) on_read(offset);
    return values[offset];
  }
  void write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value) override {
    EXPECT_TRUE(has(offset, bytes));
    check_width(offset, bytes);
    writes.push_back({offset, value});
    if (!read_only.contains(offset)) values[offset] = value;
    if (on_write) on_write(offset, value);
  }
  std::uint32_t size() const override { return size_; }

  mutable std::map<std::uint32_t, std::uint32_t> values;
  std::map<std::uint32_t, bool> read_only;
  std::map<std::uint32_t, std::uint32_t> widths;  // none: any
  std::vector<Write> writes;
  std::function<void(std::uint32_t)> on_read;
  std::function<void(std::uint32_t, std::uint32_t)> on_write;

 private:
  void check_width(std::uint32_t offset, std::uint32_t bytes) const {
    const auto found = widths.find(offset);
    EXPECT_TRUE(found == widths.end() || bytes == found->second) << offset;
  }
  std::uint32_t size_;
};

std::uint64_t want_everything(std::uint64_t offered) { return offered; }
std::uint64_t want_nothing(std::uint64_t) { return 0; }

class MmioTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t magic = 0x74726976;
  MmioTest() {
    registers.values = {{0x000, magic}, {0x004, 2}, {0x008, 4}, {0x034, 64}};
    registers.read_only = {{0x010, true}, {0x034, true}, {0x060, true}};
    for (std::uint32_t offset = 0; offset < 0x100; offset += 4) registers.widths[offset] = 4;
    registers.on_write = [&](std::uint32_t offset, std::uint32_t value) {
      if (offset == 0x014) registers.values[0x010] = value == 0 ? 0x20000005u : 1u;
      if (offset == 0x064) registers.values[0x060] &= ~value;
    };
  }
  ScriptedRegisters registers{0x100}, configuration{0x100};
  VirtioMmio device{registers, configuration, InterruptLine{5}};
};

TEST_F(MmioTest, IsKnownByItsMagicAndKind) {
  EXPECT_EQ(VirtioMmio::kind_at(registers).value(), 4);
  registers.values[0x008] = 0;
  EXPECT_EQ(VirtioMmio::kind_at(registers).value(), 0);
  registers.values[0x004] = 1;  // an empty window of an old machine is no reason to complain
  EXPECT_EQ(VirtioMmio::kind_at(registers).value(), 0);
  registers.values[0x008] = 0x10004;
  EXPECT_EQ(VirtioMmio::kind_at(registers).value(), 0);
  registers.values[0x008] = 4;
  const auto old = VirtioMmio::kind_at(registers);
  ASSERT_FALSE(old.ok());
  EXPECT_NE(old.error().text().find("force-legacy=false"), std::string_view::npos);
  registers.values[0x000] = 0xffffffff;
  EXPECT_EQ(VirtioMmio::kind_at(registers).value(), 0);
}

TEST_F(MmioTest, AgreesOnFeaturesStepByStep) {
  EXPECT_EQ(device.begin(want_everything).value(), 0x120000005u);
  using Write = ScriptedRegisters::Write;
  const std::vector<Write> expected{{0x070, 0}, {0x070, 1},          {0x070, 3}, {0x014, 0}, {0x014, 1},
                                    {0x024, 0}, {0x020, 0x20000005}, {0x024, 1}, {0x020, 1}, {0x070, 11}};
  EXPECT_EQ(registers.writes, expected);
  EXPECT_EQ(device.begin(want_nothing).value(), virtio_version_1);
  device.go();
  EXPECT_EQ(registers.values[0x070], 15u);
}

TEST_F(MmioTest, DevicesThatDoNotAgreeAreRefused) {
  registers.on_write = [&](std::uint32_t offset, std::uint32_t value) {
    if (offset == 0x070) registers.values[0x070] = value & 7;  // it never says that it agrees
    if (offset == 0x014) registers.values[0x010] = 1;
  };
  EXPECT_FALSE(device.begin(want_everything).ok());
  registers.on_write = [&](std::uint32_t offset, std::uint32_t) {
    if (offset == 0x014) registers.values[0x010] = 0;  // older than 1.0
  };
  EXPECT_FALSE(device.begin(want_everything).ok());
  registers.values[0x070] = 64;
  registers.read_only[0x070] = true;  // it cannot be reset
  EXPECT_FALSE(device.begin(want_everything).ok());
}

TEST_F(MmioTest, TakesItsCausesUntilThereAreNone) {
  std::array<int, 2> told{};
  const auto handler = [](int& count) {
    return InterruptHandler{[](void* context, arch::TrapFrame&) { ++*static_cast<int*>(context); }, &count};
  };
  FakeInterrupts interrupts;
  const VirtioDevice::InterruptTarget target[] = {{handler(told[0]), 0}};
  ASSERT_TRUE(device.connect(interrupts.services(), target, handler(told[1])).ok());
  EXPECT_EQ(interrupts.controller.routed, 5u);

  arch::TrapFrame frame;
  registers.values[0x060] = 1;
  bool changed = false;
  registers.on_read = [&](std::uint32_t offset) {
    // The configuration changes while the first cause is taken.
    if (offset == 0x060 && told[0] == 1 && !std::exchange(changed, true)) registers.values[0x060] = 2;
  };
  VirtioMmio::on_interrupt(&device, frame);
  EXPECT_EQ(told, (std::array{1, 1}));
  EXPECT_EQ(registers.values[0x060], 0u);

  registers.on_read = nullptr;
  registers.on_write = nullptr;
  registers.values[0x060] = 1;  // for good
  VirtioMmio::on_interrupt(&device, frame);
  EXPECT_LE(told[0], 20);
}

TEST_F(MmioTest, QueuesGetTheirPlaces) {
  FakeMemory memory(2 * mib);
  FrameAllocator frames = frames_of(memory);
  TestHeap heap;
  VirtioQueueMemory queue;
  EXPECT_EQ(device.queue_capacity(3), 64);
  registers.values[0x034] = 0x12345678;
  EXPECT_EQ(device.queue_capacity(3), 0x8000);
  ASSERT_TRUE(queue.begin({frames, memory.window(), heap}, 100, 256, true).ok());
  registers.writes.clear();
  ASSERT_TRUE(device.enable_queue(3, queue, 0).ok());
  const auto at = static_cast<std::uint32_t>(queue.physical().value());
  using Write = ScriptedRegisters::Write;
  const std::vector<Write> expected{{0x030, 3}, {0x038, 64},        {0x080, at}, {0x084, 0}, {0x090, at + 4096},
                                    {0x094, 0}, {0x0a0, at + 5120}, {0x0a4, 0},  {0x044, 1}};
  EXPECT_EQ(registers.writes, expected);
  queue.doorbell.ring();
  EXPECT_EQ(registers.values[0x050], 3u);
  registers.read_only[0x044] = true;
  registers.values[0x044] = 0;
  EXPECT_FALSE(device.enable_queue(3, queue, 0).ok());
}

TEST_F(MmioTest, ReadsTheConfigurationWhileItStays) {
  configuration.values[0] = 0x52;
  configuration.widths[0] = 1;
  EXPECT_EQ(device.configuration<std::uint8_t>(0), 0x52);
  EXPECT_EQ(device.configuration<std::uint16_t>(0xff), 0);  // half of it is outside
  EXPECT_EQ(device.configuration<std::uint32_t>(0xffffffff), 0u);
  std::uint32_t changes = 2;
  registers.on_read = [&](std::uint32_t offset) {
    if (offset == 0x0fc && changes > 0) registers.values[0x0fc] = changes--;
  };
  int readings = 0;
  EXPECT_TRUE(device.read_configuration([&] { ++readings; }).ok());
  EXPECT_EQ(readings, 2);
  registers.on_read = [&](std::uint32_t offset) {
    if (offset == 0x0fc) ++registers.values[0x0fc];
  };
  EXPECT_FALSE(device.read_configuration([] {}).ok());
}

class PciLayoutTest : public ::testing::Test {
 protected:
  static constexpr PciAddress place{0, 0, 3, 0};
  PciLayoutTest() {
    function.registers[0] = 0x10411af4;
    function.registers[1] = 1u << 20;  // has capabilities
    function.registers[13] = 0x40;
    capability(0x40, 0x50, 1, 4, 0x0000, 0x1000);
    capability(0x50, 0x60, 3, 4, 0x1000, 0x1000);  // the cause of a line: not needed
    capability(0x60, 0x70, 4, 4, 0x2000, 0x1000);
    capability(0x70, 0x00, 2, 4, 0x3000, 0x1000);
    function.registers[0x80 / 4] = 4;
  }
  void capability(std::uint32_t at, std::uint32_t next, std::uint32_t sort, std::uint32_t bar, std::uint32_t offset,
                  std::uint32_t bytes) {
    function.registers[at / 4] = 0x09 | next << 8 | 16u << 16 | sort << 24;
    function.registers[at / 4 + 1] = bar;
    function.registers[at / 4 + 2] = offset;
    function.registers[at / 4 + 3] = bytes;
  }
  Result<VirtioPciParts> read() { return VirtioPciParts::read(pci, place); }

  FakePci pci;
  FakePci::Function& function = pci.plug(place);
};

TEST_F(PciLayoutTest, IsReadFromCapabilities) {
  const VirtioPciParts layout = read().value();
  EXPECT_EQ(layout.ranges[VirtioPciParts::common].bytes, 0x1000u);
  EXPECT_EQ(layout.ranges[VirtioPciParts::doorbells].offset, 0x3000u);
  EXPECT_EQ(layout.ranges[VirtioPciParts::doorbells].bar, 4);
  EXPECT_EQ(layout.ranges[VirtioPciParts::configuration].offset, 0x2000u);
  EXPECT_EQ(layout.doorbell_step, 4u);
}

TEST_F(PciLayoutTest, WhatMakesNoSenseIsNotTaken) {
  capability(0x50, 0x60, 1, 2, 0x500, 0x1000);  // a second sort 1: the first counts
  EXPECT_EQ(read().value().ranges[VirtioPciParts::common].bar, 4);
  capability(0x40, 0x50, 1, 6, 0, 0x1000);  // no such BAR: now the second does
  EXPECT_EQ(read().value().ranges[VirtioPciParts::common].bar, 2);
  capability(0x50, 0x60, 1, 2, 0x501, 0x1000);  // at an odd place
  EXPECT_FALSE(read().ok());
  capability(0x50, 0x60, 1, 2, 0x500, 0x37);  // too short
  EXPECT_FALSE(read().ok());
  capability(0x50, 0x60, 1, 2, 0x500, 0x38);
  EXPECT_TRUE(read().ok());
  capability(0x70, 0x00, 2, 4, 0x3000, 1);
  EXPECT_FALSE(read().ok());
  function.registers[13] = 0;
  EXPECT_FALSE(read().ok());
}

class VirtioPciTest : public PciLayoutTest {
 protected:
  VirtioPciTest() {
    common.widths = {{0x00, 4}, {0x04, 4}, {0x08, 4}, {0x0c, 4}, {0x10, 2}, {0x14, 1}, {0x15, 1}, {0x16, 2},
                     {0x18, 2}, {0x1a, 2}, {0x1c, 2}, {0x1e, 2}, {0x20, 4}, {0x24, 4}, {0x28, 4}, {0x2c, 4}};
    common.on_write = [&](std::uint32_t offset, std::uint32_t value) {
      if (offset == 0x00) common.values[0x04] = value == 0 ? 0x20 : 1;
    };
    EXPECT_TRUE(queue.begin({frames, memory.window(), heap}, 256, 256, true).ok());
  }
  FakeMemory memory{2 * mib};
  FrameAllocator frames = frames_of(memory);
  TestHeap heap;
  VirtioQueueMemory queue;
  ScriptedRegisters common{0x38}, doorbells{0x20}, configuration{8};
  VirtioPci device{PciDevice(pci, place, read_pci_header(pci, place).value()), common, doorbells, configuration, 4};
};

TEST_F(VirtioPciTest, AgreesAndEnablesQueuesByTheirWidths) {
  EXPECT_EQ(device.begin(want_everything).value(), 0x100000020u);
  common.values[0x1e] = 7;
  ASSERT_TRUE(device.enable_queue(2, queue, 1).ok());
  EXPECT_EQ(common.values[0x16], 2u);
  EXPECT_EQ(common.values[0x18], 256u);
  EXPECT_EQ(common.values[0x1a], 1u);
  EXPECT_EQ(common.values[0x1c], 1u);
  EXPECT_EQ(common.values[0x28], queue.physical().value() + 4096);
  queue.doorbell.ring();
  EXPECT_EQ(doorbells.writes, (std::vector<ScriptedRegisters::Write>{{28, 2}}));
  configuration.values[6] = 1;
  EXPECT_EQ(device.configuration<std::uint16_t>(6), 1);
  EXPECT_EQ(device.configuration<std::uint16_t>(7), 0);
}

TEST_F(VirtioPciTest, DoorbellsOutsideTheirPartAreRefused) {
  for (const std::uint32_t number : {8u, 0xffffu}) {
    common.values[0x1e] = number;
    EXPECT_FALSE(device.enable_queue(0, queue, 0).ok()) << number;
    EXPECT_EQ(common.values[0x1c], 0u);
  }
}

TEST_F(VirtioPciTest, ADeviceWithoutRoomForAMessageIsRefused) {
  common.read_only[0x1a] = true;
  common.values[0x1a] = 0xffff;
  EXPECT_FALSE(device.enable_queue(0, queue, 0).ok());
}

TEST_F(VirtioPciTest, OneMessageIsTheConfigurations) {
  EXPECT_EQ(device.interrupt_count(), 0u);  // there is no MSI-X
  capability(0x70, 0xa0, 2, 4, 0x3000, 0x1000);
  function.registers[0xa0 / 4] = 0x11 | 2u << 16;  // three messages
  EXPECT_EQ(device.interrupt_count(), 2u);
  function.registers[0xa0 / 4] = 0x11 | 40u << 16;
  EXPECT_EQ(device.interrupt_count(), VirtioDevice::most_interrupts);
}

}  // namespace
}  // namespace ingot::os
