#include <gtest/gtest.h>

#include <memory>

#include "base/random.h"
#include "os/device/acpi_interrupts.h"
#include "os/device/acpi_platform.h"
#include "os/device/acpi_power.h"
#include "os/device/acpi_tables.h"
#include "os/device/fake_firmware.h"

namespace ingot::os {
namespace {

constexpr PhysicalAddress base(0xe0000);
constexpr PhysicalAddress root_at = base + 0x40, rsdt_at = base + 0x100, xsdt_at = base + 0x200, madt_at = base + 0x300,
                          fadt_at = base + 0x400, dsdt_at = base + 0x600;

TableBuilder madt() {
  TableBuilder table("APIC", 44);
  table.number<std::uint32_t>(36, 0xfee00000).number<std::uint32_t>(40, 1);
  table.append({0, 8, 0, 0, 1, 0, 0, 0});                           // CPU 0
  table.append({0, 8, 1, 2, 0, 0, 0, 0});                           // an empty slot
  table.append({0, 8, 2, 4, 2, 0, 0, 0});                           // may be plugged in
  table.append({9, 16, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0});  // x2APIC 256
  table.append({1, 12, 9, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0});
  table.append({2, 10, 0, 0, 2, 0, 0, 0, 0, 0});
  table.append({2, 10, 0, 9, 9, 0, 0, 0, 13, 0});  // level, active high
  table.append({0x7f, 3, 99});                     // a type of the future
  return table;
}

TableBuilder dsdt(std::initializer_list<int> code) {
  TableBuilder table("DSDT", 36);
  table.append(code);
  return table;
}

TableBuilder fadt() {
  TableBuilder table("FACP", 268);
  table.number<std::uint32_t>(40, static_cast<std::uint32_t>(dsdt_at.value())).number<std::uint32_t>(64, 0x604);
  table.number<std::uint32_t>(48, 0xb2).number<std::uint8_t>(52, 0xf1);
  table.number<std::uint32_t>(112, 1u << 10);
  table.number<std::uint8_t>(116, 1).number<std::uint8_t>(117, 8).number<std::uint64_t>(120, 0xcf9);
  table.number<std::uint8_t>(128, 0x0f);
  return table;
}

TableBuilder root(int revision) {
  TableBuilder table(36);
  table.text(0, "RSD PTR ").number<std::uint8_t>(15, static_cast<std::uint8_t>(revision));
  table.number<std::uint32_t>(16, static_cast<std::uint32_t>(rsdt_at.value())).number<std::uint32_t>(20, 36);
  table.number<std::uint64_t>(24, xsdt_at.value()).sum(8, 20).sum(32, 36);
  return table;
}

// In an array of its own length, so that the sanitizer sees a read behind its end.
std::unique_ptr<FakeFirmware> firmware(int revision) {
  auto memory = std::make_unique<FakeFirmware>(base, 0x20000);
  memory->put(root_at, root(revision).bytes());
  TableBuilder rsdt("RSDT", 36 + 2 * 4);
  rsdt.number<std::uint32_t>(36, static_cast<std::uint32_t>(fadt_at.value()));
  rsdt.number<std::uint32_t>(40, static_cast<std::uint32_t>(madt_at.value()));
  memory->put(rsdt_at, rsdt.finish());
  TableBuilder xsdt("XSDT", 36 + 3 * 8);
  xsdt.number<std::uint64_t>(36, 0xffff'ffff'ffff'fff0);  // points nowhere
  xsdt.number<std::uint64_t>(44, madt_at.value()).number<std::uint64_t>(52, fadt_at.value());
  memory->put(xsdt_at, xsdt.finish());
  memory->put(madt_at, madt().finish());
  memory->put(fadt_at, fadt().finish());
  memory->put(dsdt_at, dsdt({0x08, '_', 'S', '5', '_', 0x12, 6, 4, 0x0a, 5, 1, 0, 0}).finish());
  return memory;
}

TEST(AcpiTables, FindsTablesByBothRevisionsOfTheRoot) {
  for (int revision : {0, 2}) {
    const auto memory = firmware(revision);
    const Result<AcpiTables> tables = AcpiTables::create(*memory, root_at);
    ASSERT_TRUE(tables.ok()) << tables.error().text();
    EXPECT_EQ(tables.value().count(), revision == 0 ? 2u : 3u);
    EXPECT_EQ(tables.value().find("APIC").value().size(), madt().bytes().size());
    EXPECT_EQ(tables.value().find("HPET").error().code(), ErrorCode::not_found);
  }
}

TEST(AcpiTables, SearchesTheRootWhereABiosLeavesIt) {
  // From address 0, so that the extended data area's pointer can be read.
  FakeFirmware memory(PhysicalAddress(0), 0x100000);
  EXPECT_FALSE(AcpiTables::find_root(memory).ok());
  memory.put(PhysicalAddress(0xf5a20), root(0).bytes());
  EXPECT_EQ(AcpiTables::find_root(memory).value(), PhysicalAddress(0xf5a20));
  memory.put(PhysicalAddress(0x40e), TableBuilder(2).number<std::uint16_t>(0, 0x9fc0).bytes());
  memory.put(PhysicalAddress(0x9fc10), root(0).bytes());
  EXPECT_EQ(AcpiTables::find_root(memory).value(), PhysicalAddress(0x9fc10));
}

// Whatever byte is wrong, no table with a wrong byte is handed out.
TEST(AcpiTables, NoFlippedByteIsBelieved) {
  const auto intact = firmware(2);
  for (const auto& [at, size] :
       {std::pair{root_at, 36}, {xsdt_at, 60}, {madt_at, static_cast<int>(madt().bytes().size())}}) {
    for (int i = 0; i < size; ++i) {
      const auto memory = firmware(2);
      memory->memory()[at - base + i] ^= std::byte{0x10};
      const Result<AcpiTables> tables = AcpiTables::create(*memory, root_at);
      EXPECT_FALSE(tables.ok() && tables.value().find("APIC").ok()) << "byte " << i << " of " << at.value();
    }
  }
  EXPECT_TRUE(AcpiTables::create(*intact, root_at).value().find("APIC").ok());
}

TEST(AcpiTables, RefusesLengthsThatLie) {
  for (std::uint32_t length : {0u, 35u, 0x7fffffffu, 0xffffffffu}) {
    const auto memory = firmware(2);
    memory->put(madt_at, TableBuilder("APIC", 44).number<std::uint32_t>(4, length).sum(9, 44).bytes());
    EXPECT_FALSE(AcpiTables::create(*memory, root_at).value().find("APIC").ok()) << length;
  }
}

TEST(AcpiInterrupts, ListsCpusControllersAndOverrides) {
  AcpiInterrupts interrupts;
  ASSERT_TRUE(AcpiInterrupts::parse(madt().finish(), interrupts).ok());
  EXPECT_EQ(interrupts.local_apic, PhysicalAddress(0xfee00000));
  EXPECT_TRUE(interrupts.has_legacy_pics);
  ASSERT_EQ(interrupts.processors.size(), 3u);
  EXPECT_TRUE(interrupts.processors[0].enabled);
  EXPECT_TRUE(interrupts.processors[1].can_be_enabled);
  EXPECT_EQ(interrupts.processors[2].apic_id, 256u);
  EXPECT_EQ(interrupts.processors[2].firmware_id, 7u);
  ASSERT_EQ(interrupts.io_apics.size(), 1u);
  EXPECT_EQ(interrupts.io_apics[0].address, PhysicalAddress(0xfec00000));
  ASSERT_EQ(interrupts.overrides.size(), 2u);
  EXPECT_EQ(interrupts.overrides[0].global_interrupt, 2u);
  EXPECT_EQ(interrupts.overrides[1].trigger, Trigger::level);
  EXPECT_EQ(interrupts.overrides[1].polarity, Polarity::active_high);
}

TEST(AcpiInterrupts, TheSixtyFourBitAddressCountsAndDoubledCpusDoNot) {
  TableBuilder table = madt();
  table.append({5, 12, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0});
  table.append({9, 16, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});  // APIC 0 again
  AcpiInterrupts interrupts;
  ASSERT_TRUE(AcpiInterrupts::parse(table.finish(), interrupts).ok());
  EXPECT_EQ(interrupts.local_apic, PhysicalAddress(0x4'0000'0000));
  EXPECT_EQ(interrupts.processors.size(), 3u);
}

TEST(AcpiInterrupts, CountsTheCpusThatDoNotFit) {
  TableBuilder table("APIC", 44);
  for (int id = 0; id < 300; ++id) table.append({9, 16, 0, 0, id & 255, id >> 8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
  AcpiInterrupts interrupts;
  ASSERT_TRUE(AcpiInterrupts::parse(table.finish(), interrupts).ok());
  EXPECT_EQ(interrupts.processors.size(), 256u);
  EXPECT_EQ(interrupts.processors_left_out, 44u);
}

TEST(AcpiInterrupts, RefusesEntriesThatWouldLoopOrLeaveTheTable) {
  AcpiInterrupts interrupts;
  for (const auto& entry : {std::initializer_list<int>{0, 0}, {0, 1}, {0, 7, 0, 0, 0, 0, 0}, {0, 200, 0, 0}, {0}}) {
    TableBuilder table("APIC", 44);
    EXPECT_FALSE(AcpiInterrupts::parse(table.append(entry).finish(), interrupts).ok());
  }
}

TEST(AcpiPower, ReadsPortsAndTheResetRegister) {
  const Result<AcpiPower> power = AcpiPower::parse(fadt().finish());
  ASSERT_TRUE(power.ok());
  EXPECT_EQ(power.value().pm1a_control, (AcpiRegister{AddressSpaceKind::port, 16, 0x604}));
  EXPECT_FALSE(power.value().pm1b_control.has_value());
  EXPECT_EQ(power.value().reset, (AcpiRegister{AddressSpaceKind::port, 8, 0xcf9}));
  EXPECT_EQ(power.value().reset_value, 0x0f);
  EXPECT_EQ(power.value().command_port, 0xb2);
  EXPECT_EQ(power.value().dsdt, dsdt_at);
}

TEST(AcpiPower, PrefersExtendedFieldsAndSleepControlOnReducedHardware) {
  TableBuilder table = fadt();
  table.number<std::uint8_t>(172, 0).number<std::uint8_t>(173, 16).number<std::uint64_t>(176, 0x5000);
  table.number<std::uint64_t>(140, 0x1'0000'0000);
  EXPECT_EQ(AcpiPower::parse(table.finish()).value().pm1a_control->address, 0x5000u);
  EXPECT_EQ(AcpiPower::parse(table.finish()).value().dsdt, PhysicalAddress(0x1'0000'0000));
  table.number<std::uint32_t>(112, 1u << 20).number<std::uint8_t>(244, 1).number<std::uint64_t>(248, 0x600);
  const AcpiPower reduced = AcpiPower::parse(table.finish()).value();
  EXPECT_FALSE(reduced.pm1a_control.has_value());
  EXPECT_FALSE(reduced.reset.has_value());
  EXPECT_EQ(reduced.sleep_control->address, 0x600u);
}

TEST(AcpiPower, EveryShorterTableIsReadOrRefused) {
  const std::vector<std::byte> whole = fadt().finish();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(AcpiPower::parse(part).ok(), size >= 116) << size;
  }
}

TEST(AcpiPower, FindsSoftOffAsConstantsOnly) {
  const auto soft_off = [](std::initializer_list<int> code) { return find_soft_off(dsdt(code).finish()); };
  EXPECT_EQ(soft_off({8, '_', 'S', '5', '_', 0x12, 6, 4, 0x0a, 5, 1, 0, 0}).value(), (AcpiSleepType{5, 1}));
  EXPECT_EQ(soft_off({8, '\\', '_', 'S', '5', '_', 0x12, 6, 4, 0, 0, 0, 0}).value(), (AcpiSleepType{0, 0}));
  // A length of two bytes, a word as element.
  EXPECT_EQ(soft_off({8, '_', 'S', '5', '_', 0x12, 0x48, 0, 2, 0x0b, 7, 0, 0x0a, 3}).value(), (AcpiSleepType{7, 3}));
  // Mentioned before it is declared.
  EXPECT_EQ(soft_off({0x70, '_', 'S', '5', '_', 8, '_', 'S', '5', '_', 0x12, 4, 2, 1, 1}).value(),
            (AcpiSleepType{1, 1}));
  EXPECT_FALSE(soft_off({8, '_', 'S', '4', '_', 0x12, 4, 2, 1, 1}).ok());
  EXPECT_FALSE(soft_off({8, '_', 'S', '5', '_', 0x12, 4, 2, 'F', 'O', 'O', '_'}).ok());  // computed
  EXPECT_FALSE(soft_off({8, '_', 'S', '5', '_', 0x12, 5, 2, 0x0a, 9, 1}).ok());          // no sleep type
  EXPECT_FALSE(soft_off({8, '_', 'S', '5', '_', 0x12, 60, 2, 1, 1}).ok());               // longer than the table
  EXPECT_FALSE(soft_off({8, '_', 'S', '5', '_', 0x12, 3, 2, 1, 1}).ok());                // elements outside the package
  EXPECT_FALSE(soft_off({8, '_', 'S', '5', '_', 0x12, 0xc8}).ok());
  EXPECT_FALSE(soft_off({8, '_', 'S', '5', '_'}).ok());
  EXPECT_EQ(pm1_off_value(5), 0x3400);
  EXPECT_EQ(sleep_control_off_value(5), 0x34);
}

TEST(AcpiPlatform, ReadsPciWindowsAndTheHpet) {
  TableBuilder mcfg("MCFG", 60);
  mcfg.number<std::uint64_t>(44, 0xb0000000).number<std::uint8_t>(55, 255);
  const PciWindows windows = parse_pci_windows(mcfg.finish()).value();
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].address, PhysicalAddress(0xb0000000));
  EXPECT_EQ(windows[0].last_bus, 255);
  EXPECT_FALSE(parse_pci_windows(mcfg.number<std::uint64_t>(44, 0xb0000001).finish()).ok());
  TableBuilder hpet("HPET", 56);
  EXPECT_FALSE(parse_hpet(hpet.finish()).ok());
  EXPECT_EQ(parse_hpet(hpet.number<std::uint64_t>(44, 0xfed00000).finish()).value(), PhysicalAddress(0xfed00000));
  EXPECT_FALSE(parse_hpet(TableBytes(hpet.bytes()).first(50)).ok());
}

TEST(Acpi, RandomBytesAreTablesOrErrors) {
  RandomNumbers random(5);
  AcpiInterrupts interrupts;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes(random.below(300));
    // Few different values: lengths and opcodes that mean something come often.
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random.below(2) != 0 ? random.below(20) : random.below(256));
    (void)AcpiInterrupts::parse(bytes, interrupts);
    (void)AcpiPower::parse(bytes);
    (void)find_soft_off(bytes);
    (void)parse_pci_windows(bytes);
    (void)parse_hpet(bytes);
  }
}

}  // namespace
}  // namespace ingot::os
