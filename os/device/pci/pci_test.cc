#include "os/device/pci/pci.h"

#include <gtest/gtest.h>

#include <vector>

#include "os/device/fake_ports.h"
#include "os/device/fake_registers.h"
#include "os/device/pci/fake_pci.h"
#include "os/device/pci/pci_access.h"
#include "os/device/pci/pci_device.h"
#include "os/device/pci/pci_function_list.h"
#include "os/device/pci/pci_message_interrupts.h"
#include "os/device/pci/pci_places.h"
#include "os/schedule/test_heap.h"

namespace ingot::os {
namespace {

constexpr PciAddress device{0, 0, 3, 0};

TEST(PciAddress, IsEncodedForBothWaysToTheRegisters) {
  const PciAddress address{0, 2, 31, 7};
  EXPECT_EQ(address.window_offset(), 0x2ff000u);
  EXPECT_EQ(address.port_selector(0x3e), 0x8002ff3cu);
}

TEST(Pci, ReadsAHeader) {
  FakePci pci;
  auto& function = pci.plug(device);
  function.registers[0] = 0x11e81234;
  function.registers[2] = 0x01060210;
  function.registers[3] = 0x00800000;
  function.registers[15] = 0x0000020b;
  const PciHeader header = read_pci_header(pci, device).value();
  EXPECT_EQ(header.vendor, 0x1234);
  EXPECT_EQ(header.device, 0x11e8);
  EXPECT_EQ(header.base_class, 1);
  EXPECT_EQ(header.sub_class, 6);
  EXPECT_EQ(header.interface, 2);
  EXPECT_EQ(header.revision, 0x10);
  EXPECT_TRUE(header.has_functions);
  EXPECT_EQ(header.interrupt_line, 11);
  EXPECT_EQ(header.interrupt_pin, 2);
  EXPECT_FALSE(read_pci_header(pci, {0, 0, 4, 0}).has_value());
}

TEST(Pci, DecodesSizesOfEveryKind) {
  const auto decoded = [](PciBarProbe probe) { return decode_pci_bar(probe).value(); };
  EXPECT_EQ(decoded({0xfebd1000, 0xfffff000})->bytes, 0x1000u);
  EXPECT_EQ(decoded({0xfebd1000, 0xfffff000})->address, 0xfebd1000u);
  EXPECT_TRUE(decoded({0xe0000008, 0xf0000008})->prefetchable);
  EXPECT_EQ(decoded({0xc001, 0xffffffe1})->bytes, 32u);
  EXPECT_EQ(decoded({0xc001, 0x0000ffe1})->bytes, 32u);  // upper half left out
  EXPECT_EQ(decoded({0xc001, 0x0000ffe1})->kind, PciBar::Kind::ports);
  const std::optional<PciBar> large = decoded({0x0000000c, 0x0000000c, 0x40, 0xfffffff0});
  EXPECT_EQ(large->bytes, std::uint64_t{1} << 36);
  EXPECT_EQ(large->address, std::uint64_t{1} << 38);
  EXPECT_FALSE(decoded({0, 0}).has_value());
  EXPECT_FALSE(decoded({8, 8}).has_value());
  EXPECT_FALSE(decoded({4, 4, 0, 0}).has_value());
  EXPECT_FALSE(decode_pci_bar({0xfebd1000, 0xffff1000}).ok());  // a gap among the writable bits
  EXPECT_FALSE(decode_pci_bar({0xfebd1000, 0xffff0000}).ok());  // not at a multiple of its size
  EXPECT_FALSE(decode_pci_bar({2, 0xfffff002}).ok());           // below 1 MiB: of the past
}

TEST(Pci, ProbingPutsEverythingBack) {
  FakePci pci;
  auto& function = pci.plug(device);
  function.registers[0] = 0x11e81234;
  function.registers[1] = 0x00100007;
  function.writable[1] = 0x7;
  function.registers[4] = 0xfeb00000;
  function.writable[4] = 0xfff00000;
  function.registers[5] = 0x0000000c;
  function.writable[5] = 0xffffc000;
  function.registers[6] = 0x8;
  function.writable[6] = 0xffffffff;
  const auto before = function;
  const PciHeader header = read_pci_header(pci, device).value();
  EXPECT_EQ(probe_pci_bar(pci, device, header, 0).value()->bytes, 1u << 20);
  const std::optional<PciBar> wide = probe_pci_bar(pci, device, header, 1).value();
  EXPECT_EQ(wide->bytes, 0x4000u);
  EXPECT_EQ(wide->address, 0x8'0000'0000u);
  EXPECT_TRUE(std::equal(before.registers, before.registers + 64, function.registers));
  EXPECT_FALSE(probe_pci_bar(pci, device, header, 6).ok());
  function.registers[9] = 4;  // the last one, 64 bits wide
  EXPECT_FALSE(probe_pci_bar(pci, device, header, 5).ok());
}

TEST(Pci, CapabilityListsEndEvenInACircle) {
  FakePci pci;
  auto& function = pci.plug(device);
  function.registers[1] = 1u << 20;
  function.registers[13] = 0x43;  // the lowest two bits mean nothing
  function.registers[0x40 / 4] = 0x5009;
  function.registers[0x50 / 4] = 0x4005;
  EXPECT_EQ(find_pci_capability(pci, device, 5, 12), 0x50);
  EXPECT_EQ(find_pci_capability(pci, device, 0x11, 12), std::nullopt);
  EXPECT_LT(pci.reads, 200u);
  function.registers[0x50 / 4] = 0x1005;  // into the header
  EXPECT_EQ(find_pci_capability(pci, device, 0x11, 12), std::nullopt);
  function.registers[0x40 / 4] = 0x4009;  // to itself
  EXPECT_EQ(find_pci_capability(pci, device, 5, 12), std::nullopt);
  function.registers[1] = 0;
  EXPECT_EQ(find_pci_capability(pci, device, 9, 12), std::nullopt);
}

TEST(Pci, CapabilitiesOfOneNumberAreFoundOneAfterTheOther) {
  FakePci pci;
  auto& function = pci.plug(device);
  function.registers[1] = 1u << 20;
  function.registers[13] = 0x40;
  function.registers[0x40 / 4] = 0x5009;
  function.registers[0x50 / 4] = 0x6005;
  function.registers[0x60 / 4] = 0xf809;
  function.registers[0xf8 / 4] = 0x0009;  // 8 bytes before the end
  EXPECT_EQ(find_pci_capability(pci, device, 9, 16), 0x40);
  EXPECT_EQ(find_pci_capability(pci, device, 9, 16, 0x40), 0x60);
  EXPECT_EQ(find_pci_capability(pci, device, 9, 16, 0x60), std::nullopt);
  EXPECT_EQ(find_pci_capability(pci, device, 9, 8, 0x60), 0xf8);
}

TEST(Pci, TheUpperHalfOfABarIsNone) {
  FakePci pci;
  auto& function = pci.plug(device);
  function.registers[0] = 0x11e81234;
  function.registers[4] = 0x0000000c;  // 64 bits: the next register is its upper half, and looks like a BAR itself
  function.registers[5] = 0x00000800;
  function.writable[4] = 0xffff0000;
  function.writable[5] = 0xffffffff;
  function.registers[6] = 0xfeb00000;
  function.writable[6] = 0xfff00000;
  const PciHeader header = read_pci_header(pci, device).value();
  EXPECT_EQ(probe_pci_bar(pci, device, header, 0).value()->address, 0x800'0000'0000u);
  EXPECT_FALSE(probe_pci_bar(pci, device, header, 1).ok());
  EXPECT_EQ(function.registers[5], 0x800u);
  EXPECT_EQ(probe_pci_bar(pci, device, header, 2).value()->bytes, 1u << 20);
}

// As QEMU starts without firmware: a device with registers, a table of messages and memory of 64 bits.
TEST(PciPlaces, AreGivenToMemoryThatHasNone) {
  FakePci pci;
  auto& function = pci.plug(device);
  function.registers[0] = 0x11101af4;
  function.writable[4] = 0xffffff00;
  function.writable[5] = 0xfffff000;
  function.registers[6] = 0xc;  // 64 bits, prefetchable
  function.writable[6] = 0xfff80000;
  function.writable[7] = 0xffffffff;
  function.registers[8] = 1;  // ports
  function.writable[8] = 0xffe0;
  function.registers[9] = 0xfeb00000;  // has its place
  function.writable[9] = 0xfffff000;
  const PciHeader header = read_pci_header(pci, device).value();
  PciMemoryWindow window(PhysicalAddress(0xc0000000), 1 << 20);
  ASSERT_TRUE(place_pci_bars(pci, device, header, window).ok());
  EXPECT_EQ(probe_pci_bar(pci, device, header, 0).value()->address, 0xc0000000u);
  EXPECT_EQ(probe_pci_bar(pci, device, header, 1).value()->address, 0xc0001000u);
  const std::optional<PciBar> memory = probe_pci_bar(pci, device, header, 2).value();
  EXPECT_EQ(memory->address, 0xc0080000u);
  EXPECT_TRUE(memory->prefetchable);
  EXPECT_EQ(function.registers[7], 0u);
  EXPECT_EQ(function.registers[8], 1u);
  EXPECT_EQ(function.registers[9], 0xfeb00000u);
  // All of the window is given away.
  auto& next = pci.plug({0, 0, 4, 0});
  next.registers[0] = 0x11101af4;
  next.writable[4] = 0xffffff00;
  EXPECT_FALSE(place_pci_bars(pci, {0, 0, 4, 0}, header, window).ok());
  EXPECT_EQ(next.registers[4], 0u);
}

TEST(PciPlaces, AreRefusedWhereSizesCannotBe) {
  PciMemoryWindow window(PhysicalAddress(0xc0000000), 1 << 20);
  for (const unsigned bits : {21, 31, 32, 63}) EXPECT_FALSE(window.take(std::uint64_t{1} << bits).ok()) << bits;
  EXPECT_EQ(window.take(1 << 20).value(), PhysicalAddress(0xc0000000));
  FakePci pci;
  auto& bridge = pci.plug(device);
  bridge.registers[0] = 0x00081b36;
  bridge.registers[3] = 0x00010000;
  bridge.writable[4] = 0xfffff000;
  EXPECT_TRUE(place_pci_bars(pci, device, read_pci_header(pci, device).value(), window).ok());
  EXPECT_EQ(bridge.registers[4], 0u);
  auto& odd = pci.plug({0, 0, 4, 0});
  odd.registers[0] = 0x11101af4;
  odd.writable[4] = 0xffff1000;  // a gap among the writable bits
  EXPECT_FALSE(place_pci_bars(pci, {0, 0, 4, 0}, read_pci_header(pci, {0, 0, 4, 0}).value(), window).ok());
}

TEST(Pci, WalksBehindBridgesAndLooksAtEveryBusOnce) {
  FakePci pci;
  pci.plug(device).registers[0] = 0x11e81234;
  auto& bridge = pci.plug({0, 0, 5, 0});
  bridge.registers[0] = 0x00011b36;
  bridge.registers[3] = 0x00010000;
  bridge.registers[6] = 0x00000700;  // bus 7
  auto& behind = pci.plug({0, 7, 0, 0});
  behind.registers[0] = 0x10411af4;
  behind.registers[3] = 0x00800000;
  pci.plug({0, 7, 0, 3}).registers[0] = 0x10421af4;
  auto& liar = pci.plug({0, 7, 1, 0});
  liar.registers[0] = 0x00011b36;
  liar.registers[3] = 0x00010000;
  liar.registers[6] = 0x00000000;                    // a bridge back to bus 0
  pci.plug({0, 9, 0, 0}).registers[0] = 0x10411af4;  // nothing leads there
  std::vector<PciAddress> found;
  for_each_pci_function(pci, 0, [&](PciAddress address, const PciHeader&) { found.push_back(address); });
  const std::vector<PciAddress> expected = {device, {0, 0, 5, 0}, {0, 7, 0, 0}, {0, 7, 0, 3}, {0, 7, 1, 0}};
  EXPECT_EQ(found, expected);
}

// Where the machine has no room for the bus, nothing of it stays: the heap says so when it goes.
TEST(PciFunctionList, GoesBackToTheHeap) {
  FakePci pci;
  for (const std::uint8_t number : {3, 5}) {
    pci.plug({0, 0, number, 0}).registers[0] = 0x11e81234u + number;
  }
  TestHeap heap;
  Result<PciFunctionList> found = PciFunctionList::find(heap, pci);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(heap.statistics().live_blocks, 1u);
  PciFunctionList list;
  list = std::move(found).value();
  ASSERT_EQ(list.view().size(), 2u);
  EXPECT_EQ(list.view()[1].address.device, 5);
  EXPECT_EQ(list.view()[1].header.vendor, 0x1239);
  heap.left = 0;
  EXPECT_FALSE(PciFunctionList::find(heap, pci).ok());
  FakePci nothing;
  EXPECT_TRUE(PciFunctionList::find(heap, nothing).value().view().empty());
}

TEST(PciPorts, SelectTheRegisterBeforeItIsUsed) {
  using Write = FakePorts::Write;
  EXPECT_FALSE(PciPorts::present());  // no ports at all
  FakePorts ports;
  ports.answers[0xcf8] = {0, 0x80000000};
  EXPECT_TRUE(PciPorts::present());
  ports.writes.clear();
  ports.answers[0xcfc] = {0x12345678};
  PciPorts pci;
  EXPECT_EQ(pci.read(device, 0x3c), 0x12345678u);
  pci.write(device, 0x04, 7);
  EXPECT_EQ(ports.writes, (std::vector<Write>{{0xcf8, 0x8000183c, 4}, {0xcf8, 0x80001804, 4}, {0xcfc, 7, 4}}));
  EXPECT_EQ(pci.read(device, 0x100), 0xffffffffu);  // only PCI Express has more, and not here
}

TEST(PciDevice, IsFoundAndEnabledWithoutTouchingItsStatus) {
  FakePci pci;
  auto& function = pci.plug(device);
  function.registers[0] = 0x11e81234;
  function.registers[1] = 0xf9100000;
  function.writable[1] = 0xffffffff;
  EXPECT_FALSE(PciDevice::find(pci, 0x1234, 0x1111).has_value());
  const std::optional<PciDevice> found = PciDevice::find(pci, 0x1234, 0x11e8);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->address(), device);
  found->enable();
  EXPECT_EQ(function.registers[1], 7u);  // zeros were written to the status half, which leaves a real one alone
}

TEST(PciMessageInterrupts, MsiIsWrittenInBothWidths) {
  for (const bool wide : {false, true}) {
    FakePci pci;
    auto& function = pci.plug(device);
    std::fill(std::begin(function.writable), std::end(function.writable), 0xffffffffu);
    function.registers[0x50 / 4] = wide ? 0x01860005u : 0x00060005u;  // 8 messages; 64 bits with mask
    const Msi msi = Msi::read(pci, device, 0x50);
    EXPECT_EQ(msi.most_messages(), 8u);
    ASSERT_TRUE(msi.enable(pci, {0xfee01000, 0x41}).ok());
    EXPECT_EQ(function.registers[0x54 / 4], 0xfee01000u);
    EXPECT_EQ(function.registers[(wide ? 0x5c : 0x58) / 4], 0x41u);
    EXPECT_EQ(function.registers[0x50 / 4], wide ? 0x01870005u : 0x00070005u);
    EXPECT_EQ(msi.enable(pci, {std::uint64_t{1} << 32, 0}).ok(), wide);
    EXPECT_FALSE(msi.enable(pci, {0xfee01000, 0x10000}).ok());
    msi.disable(pci);
    EXPECT_EQ(function.registers[0x50 / 4] >> 16 & 1, 0u);
  }
}

TEST(PciMessageInterrupts, MsiXTablesLieInsideTheirBar) {
  FakePci pci;
  auto& function = pci.plug(device);
  std::fill(std::begin(function.writable), std::end(function.writable), 0xffffffffu);
  function.registers[0x60 / 4] = 0x00030011;  // 4 entries
  function.registers[0x64 / 4] = 0x00000fc1;  // in BAR 1, at 0xfc0
  const MsiX msix = MsiX::read(pci, device, 0x60);
  EXPECT_EQ(msix.entries(), 4u);
  EXPECT_EQ(msix.table_bar(), 1u);
  EXPECT_EQ(msix.table_offset(), 0xfc0u);
  PciBar bar{PciBar::Kind::memory, false, false, 0, 0x1000};
  EXPECT_FALSE(msix.check_table(bar).ok());  // nobody gave it a place
  EXPECT_FALSE(msix.check_table(std::nullopt).ok());
  bar.address = 0xfeb00000;
  EXPECT_TRUE(msix.check_table(bar).ok());
  bar.bytes = 0x800;
  EXPECT_FALSE(msix.check_table(bar).ok());
  msix.set_state(pci, MsiX::State::on_but_masked);
  EXPECT_EQ(function.registers[0x60 / 4], 0xc0030011u);
  msix.set_state(pci, MsiX::State::on);
  EXPECT_EQ(function.registers[0x60 / 4], 0x80030011u);
}

TEST(PciMessageInterrupts, MsiXEntriesAreMaskedWhileTheyAreWrittenAndWhenTheyAreNotUsed) {
  FakePci pci;
  pci.plug(device).registers[0x60 / 4] = 0x00020011;  // 3 entries
  FakeRegisters table;
  const InterruptMessage messages[] = {{0xfee00000, 0x41}, {0x1'fee01000, 0x42}};
  MsiX::read(pci, device, 0x60).write_table(table, messages);
  const std::vector<FakeRegisters::Write> expected = {
      {0x0c, 1}, {0x00, 0xfee00000}, {0x04, 0}, {0x08, 0x41}, {0x0c, 0},  //
      {0x1c, 1}, {0x10, 0xfee01000}, {0x14, 1}, {0x18, 0x42}, {0x1c, 0},  //
      {0x2c, 1}};
  EXPECT_EQ(table.writes, expected);
}

TEST(PciMessageInterrupts, MsiThatLeavesConfigurationSpaceIsRefused) {
  FakePci pci;
  auto& function = pci.plug(device);
  std::fill(std::begin(function.writable), std::end(function.writable), 0xffffffffu);
  function.registers[0xf0 / 4] = 0x01860005;  // 64 bits with a mask: 24 bytes, of which 16 are there
  EXPECT_FALSE(Msi::read(pci, device, 0xf0).enable(pci, {0xfee01000, 0x41}).ok());
  function.registers[0xf0 / 4] = 0x00060005;
  EXPECT_TRUE(Msi::read(pci, device, 0xf0).enable(pci, {0xfee01000, 0x41}).ok());
}

}  // namespace
}  // namespace ingot::os
