// What a device may make the kernel map and write: hostile configuration spaces are refused, and nothing is kept.
#include "os/device/pci/pci_device.h"

#include <gtest/gtest.h>

#include <array>

#include "os/device/pci/fake_pci.h"
#include "os/device/pci/pci_driver.h"
#include "os/memory/fake_memory.h"
#include "os/schedule/scheduler.h"

namespace ingot::os {
namespace {

constexpr PciAddress place{0, 0, 3, 0};
constexpr std::uint32_t all_ones = 0xffffffff;

// Two CPUs; messages name the CPU in their address and the vector as data.
class TwoCpuController final : public InterruptController {
 public:
  std::string_view name() const override { return "two CPUs"; }
  InterruptLine isa_line(std::uint8_t number) const override { return {number}; }
  std::optional<std::uint8_t> fixed_vector(const InterruptLine&) const override { return std::nullopt; }
  Result<void> route(const InterruptLine&, std::uint8_t, std::uint32_t) override { return {}; }
  void mask(std::uint32_t) override {}
  void unmask(std::uint32_t) override {}
  Result<InterruptMessage> message(std::uint8_t vector, std::uint32_t cpu) const override {
    if (cpu < 2) return InterruptMessage{0xfee00000u | cpu << 12, vector};
    return Error::of(ErrorCode::unsupported, "expected one of two CPUs, found ", cpu);
  }
  void send(std::uint32_t, std::uint8_t) override {}
  void stop_others() override {}
  bool is_spurious(std::uint64_t) override { return false; }
  void end_of_interrupt(std::uint64_t) override {}
};

// A device with a BAR of 64 bits and MSI-X with four messages, whose table lies in it.
class PciDevices : public ::testing::Test {
 protected:
  static constexpr std::uint64_t bar_address = 0x80'0000'0000;

  PciDevices() {
    arch::set_current_cpu(processor);
    FrameAllocator frames = frames_of(memory);
    const PhysicalAddress root = frames.allocate(page_order).value().address();
    memory.window().clear(root, page_bytes);
    kernel.emplace(std::move(frames), memory.window(), root, PageSize::giant, Poison::on);
    EXPECT_TRUE(kernel->prepare().ok());
    function.registers[0] = 0x11e81234;
    function.registers[1] = 1u << 20;
    function.registers[13] = 0x60;
    set_bar(bar_address, 0x4000, 0xc);
    function.registers[0x60 / 4] = 0x00030011;
    function.registers[0x64 / 4] = 0x3fc0;
    function.writable[0x60 / 4] = 0xc0000000;
  }
  ~PciDevices() override { arch::hosted::thread.header = nullptr; }

  void set_bar(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind) {
    function.registers[4] = static_cast<std::uint32_t>(address) | kind;
    function.writable[4] = static_cast<std::uint32_t>(0 - bytes);
    function.registers[5] = static_cast<std::uint32_t>(address >> 32);
    function.writable[5] = static_cast<std::uint32_t>((0 - bytes) >> 32);
  }
  PciDevice device() { return {pci, place, read_pci_header(pci, place).value()}; }
  Result<void> connect(std::span<const std::uint32_t> cpus) {
    std::array<PciDevice::MessageTarget, 8> targets;
    std::array<std::uint8_t, 8> vectors{};
    for (std::size_t i = 0; i < cpus.size(); ++i) targets[i] = {{[](void*, arch::TrapFrame&) {}, nullptr}, cpus[i]};
    return device().connect_messages({controller, table, *kernel}, std::span(targets).first(cpus.size()),
                                     std::span(vectors).first(cpus.size()));
  }
  // What a device that was refused left: no vector, and no message allowed.
  void expect_nothing_kept() {
    EXPECT_EQ(function.registers[0x60 / 4], 0x00030011u);
    EXPECT_EQ(table.allocate({[](void*, arch::TrapFrame&) {}, nullptr}).value(), 0x30);
    table.release(0x30);
  }

  Processor processor{0};
  FakeMemory memory{8 * mib};
  std::optional<KernelMemory> kernel;
  FakePci pci;
  FakePci::Function& function = pci.plug(place);
  TwoCpuController controller;
  InterruptTable table;
};

TEST_F(PciDevices, BarsAboveFourGibAreMappedAsTheDriverWants) {
  for (const CacheMode cache : {CacheMode::uncached, CacheMode::write_combining, CacheMode::write_back}) {
    const PciDevice::Mapped mapped = device().map(0, *kernel, cache).value();
    EXPECT_EQ(mapped.bytes, 0x4000u);
    const MappedPage page = kernel->table().find(mapped.begin).value();
    EXPECT_EQ(page.physical, PhysicalAddress(bar_address));
    EXPECT_EQ(page.attributes.cache, cache);
  }
  set_bar(bar_address, 0x4000, 4);  // not prefetchable: reading it may change something
  EXPECT_TRUE(device().map(0, *kernel).ok());
  EXPECT_FALSE(device().map(0, *kernel, CacheMode::write_combining).ok());
  EXPECT_FALSE(device().map(0, *kernel, CacheMode::write_back).ok());
}

TEST_F(PciDevices, BarsThatNoAddressSpaceHoldsAreRefused) {
  set_bar(0, 0x4000, 0xc);  // nobody gave it a place
  EXPECT_FALSE(device().map(0, *kernel).ok());
  for (const unsigned bits : {39, 52, 62, 63}) {
    set_bar(std::uint64_t{1} << bits, std::uint64_t{1} << bits, 0xc);
    EXPECT_FALSE(device().map(0, *kernel).ok()) << bits;
  }
  set_bar(std::uint64_t{1} << 52, 0x4000, 0xc);  // beyond what a CPU can address
  EXPECT_FALSE(device().map(0, *kernel).ok());
  EXPECT_FALSE(device().map(1, *kernel).ok());  // its upper half
  EXPECT_FALSE(device().map(6, *kernel).ok());
}

TEST_F(PciDevices, TablesOutsideTheirBarAreRefused) {
  const std::uint32_t one[] = {0};
  for (const std::uint32_t where : {0x3fc8u, 0x4000u, 0xfffffff8u, 1u, 2u, 6u, 7u}) {  // the lowest 3 bits: the BAR
    function.registers[0x64 / 4] = where;
    EXPECT_FALSE(connect(one).ok()) << where;
    expect_nothing_kept();
  }
  function.registers[0x64 / 4] = 0;
  set_bar(0, 0x4000, 0xc);
  EXPECT_FALSE(connect(one).ok());
  set_bar(0xc000, 0x4000, 1);  // ports
  EXPECT_FALSE(connect(one).ok());
  expect_nothing_kept();
}

TEST_F(PciDevices, MessagesAreConnectedAllOrNone) {
  EXPECT_EQ(device().message_count(), 4u);
  EXPECT_FALSE(connect({}).ok());
  const std::uint32_t too_many[] = {0, 1, 0, 1, 0};
  EXPECT_FALSE(connect(too_many).ok());
  const std::uint32_t no_such_cpu[] = {0, 1, 2};
  EXPECT_FALSE(connect(no_such_cpu).ok());
  expect_nothing_kept();
  function.registers[13] = 0;  // no MSI-X: and no MSI
  EXPECT_EQ(device().message_count(), 0u);
  const std::uint32_t one[] = {0};
  EXPECT_FALSE(connect(one).ok());
  expect_nothing_kept();
}

TEST_F(PciDevices, MsiServesOneTargetOnItsCpu) {
  function.registers[0x60 / 4] = 0x00060005;  // 8 messages, of which one is used
  for (const unsigned offset : {0x60, 0x64, 0x68}) function.writable[offset / 4] = all_ones;
  function.writable[1] = 0xffff;
  EXPECT_EQ(device().message_count(), 1u);
  const std::uint32_t second_cpu[] = {1};
  ASSERT_TRUE(connect(second_cpu).ok());
  EXPECT_EQ(function.registers[0x64 / 4], 0xfee01000u);
  EXPECT_EQ(function.registers[0x68 / 4], 0x30u);
  EXPECT_NE(function.registers[1] & 1u << 10, 0u);  // its line is off
  const std::uint8_t vectors[] = {0x30};
  device().disconnect_messages(table, vectors);
  EXPECT_EQ(function.registers[1] & 1u << 10, 0u);
  EXPECT_EQ(table.allocate({[](void*, arch::TrapFrame&) {}, nullptr}).value(), 0x30);
}

Result<void> create_nothing(Kernel&, const PciDevice&) { return {}; }

TEST(PciDrivers, AreFoundByIdentityClassOrVirtioKindTheFirstRowFirst) {
  constexpr PciDriver table[] = {
      {"edu", PciMatch::identity(0x1234, 0x11e8), create_nothing},
      {"virtio network card", PciMatch::virtio(1), create_nothing},
      {"virtio disk", PciMatch::virtio(2), create_nothing},
      {"disk", PciMatch::device_class(1, 8, 2), create_nothing},
  };
  const auto driver_of = [&](const PciHeader& header) -> std::string_view {
    const PciDriver* driver = find_pci_driver(table, header);
    return driver != nullptr ? driver->name : "nobody";
  };
  EXPECT_EQ(driver_of({.vendor = 0x1234, .device = 0x11e8, .base_class = 1, .sub_class = 8, .interface = 2}), "edu");
  EXPECT_EQ(driver_of({.vendor = 0x144d, .device = 0xa808, .base_class = 1, .sub_class = 8, .interface = 2}), "disk");
  EXPECT_EQ(driver_of({.vendor = 0x144d, .device = 0xa808, .base_class = 1, .sub_class = 8, .interface = 1}), "nobody");
  EXPECT_EQ(driver_of({.vendor = 0x1af4, .device = 0x1041}), "virtio network card");
  EXPECT_EQ(driver_of({.vendor = 0x1af4, .device = 0x1000, .subsystem = 1}), "virtio network card");
  EXPECT_EQ(driver_of({.vendor = 0x1af4, .device = 0x1001, .subsystem = 2}), "virtio disk");
  EXPECT_EQ(driver_of({.vendor = 0x1af4, .device = 0x1044}), "nobody");
  EXPECT_EQ(driver_of({.vendor = 0x1af4, .device = 0x1082, .subsystem = 2}), "nobody");
  EXPECT_EQ(driver_of({.vendor = 0x8086, .device = 0x1041, .subsystem = 1}), "nobody");
}

}  // namespace
}  // namespace ingot::os
