#include "os/boot/uefi_handover.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.h"

namespace ingot::os {
namespace {

struct FakeUefi {
  static constexpr std::size_t handover_at = 0x100, map_at = 0x200, text_at = 0x1000, descriptor_bytes = 48;
  std::vector<std::byte> memory = std::vector<std::byte>(0x4000);
  UefiHandover handover{.magic = UefiHandover::expected_magic,
                        .memory_map = map_at,
                        .memory_map_bytes = 4 * descriptor_bytes,
                        .descriptor_bytes = descriptor_bytes,  // longer than ours, as firmware has them
                        .command_line = text_at,
                        .initramfs = 0x40'0000,
                        .initramfs_bytes = 0x1234,
                        .acpi_root = 0xf'0000'0014,
                        .entropy = 77,
                        .framebuffer = 0x8000'0000,
                        .width = 800,
                        .height = 600,
                        .pitch = 3328,
                        .bits_per_pixel = 32};

  void put_range(std::size_t index, std::uint32_t type, std::uint64_t begin, std::uint64_t pages) {
    const UefiMemoryDescriptor entry{type, 0, begin, 0, pages, 15};
    std::memcpy(memory.data() + map_at + index * descriptor_bytes, &entry, sizeof entry);
  }
  FakeUefi() {
    put_range(0, 7, 0x1000, 0x9f);
    put_range(1, 2, 0x10'0000, 0x40);    // the loader's data: usable, and joins what follows
    put_range(2, 7, 0x14'0000, 0x1000);  //
    put_range(3, 9, 0x7f00'0000, 0x10);  // ACPI tables
    std::strcpy(reinterpret_cast<char*>(memory.data()) + text_at, "debug-exit log=info");
  }
  Result<void> read(BootInfo& info) {
    std::memcpy(memory.data() + handover_at, &handover, sizeof handover);
    return read_uefi_handover(LoaderMemory(memory), PhysicalAddress(handover_at), info);
  }
  ErrorCode code() {
    BootInfo info;
    const Result<void> done = read(info);
    EXPECT_FALSE(done.ok());
    return done.ok() ? ErrorCode{} : done.error().code();
  }
};

TEST(UefiHandover, BecomesBootInfo) {
  FakeUefi uefi;
  BootInfo info;
  const Result<void> read = uefi.read(info);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(info.command_line.view(), "debug-exit log=info");
  EXPECT_EQ(info.acpi_root, PhysicalAddress(0xf'0000'0014));
  EXPECT_EQ(info.entropy, 77u);
  ASSERT_EQ(info.modules().size(), 1u);
  EXPECT_EQ(info.modules()[0], (PhysicalRange{PhysicalAddress(0x40'0000), 0x1234}));
  ASSERT_TRUE(info.framebuffer.has_value());
  EXPECT_EQ(info.framebuffer->pitch, 3328u);
  EXPECT_EQ(info.memory.ranges().size(), 5u);  // low, high in two pieces around the initramfs, the initramfs, ACPI
  EXPECT_EQ(info.memory.bytes_of(MemoryKind::usable), 0x9f000u + 0x1040000 - 0x1234);
}

TEST(UefiHandover, WhatIsMissingStaysEmpty) {
  FakeUefi uefi;
  uefi.handover.command_line = uefi.handover.initramfs_bytes = uefi.handover.acpi_root = uefi.handover.framebuffer = 0;
  BootInfo info;
  ASSERT_TRUE(uefi.read(info).ok());
  EXPECT_TRUE(info.command_line.view().empty() && info.modules().empty());
  EXPECT_FALSE(info.acpi_root || info.framebuffer);
}

TEST(UefiHandover, KindsFollowTheSpecification) {
  const auto kind = [](std::uint32_t type) { return UefiMemoryDescriptor{type, 0, 0, 0, 0, 0}.kind(); };
  for (const std::uint32_t type : {1u, 2u, 3u, 4u, 7u}) EXPECT_EQ(kind(type), MemoryKind::usable) << type;
  for (const std::uint32_t type : {0u, 5u, 6u, 11u, 12u, 13u, 14u, 15u, 0x80000000u}) {
    EXPECT_EQ(kind(type), MemoryKind::reserved) << type;
  }
  EXPECT_EQ(kind(8), MemoryKind::bad);
  EXPECT_EQ(kind(9), MemoryKind::acpi_reclaimable);
  EXPECT_EQ(kind(10), MemoryKind::acpi_nvs);
}

TEST(UefiHandover, WrongNumbersAreErrors) {
  FakeUefi uefi;
  uefi.handover.magic += 1;
  EXPECT_EQ(uefi.code(), ErrorCode::corrupt);
  uefi = FakeUefi();
  uefi.handover.descriptor_bytes = 39;
  EXPECT_EQ(uefi.code(), ErrorCode::corrupt);
  for (std::uint64_t UefiHandover::* field :
       {&UefiHandover::memory_map, &UefiHandover::memory_map_bytes, &UefiHandover::command_line}) {
    for (const std::uint64_t wrong : {std::uint64_t{0x4001}, ~std::uint64_t{0}}) {
      uefi = FakeUefi();
      uefi.handover.*field = wrong;
      EXPECT_EQ(uefi.code(), ErrorCode::out_of_range) << wrong;
    }
  }
  uefi = FakeUefi();
  uefi.put_range(1, 7, 0x1000, std::uint64_t{1} << 52);
  EXPECT_EQ(uefi.code(), ErrorCode::overflow);
}

// Whatever the structures hold, the reader ends and stays inside memory (the sanitizers watch).
TEST(UefiHandover, RandomDamageIsSurvived) {
  RandomNumbers numbers(3);
  for (int round = 0; round < 3000; ++round) {
    FakeUefi uefi;
    auto* bytes = reinterpret_cast<std::byte*>(&uefi.handover);
    for (std::uint64_t count = 1 + numbers.below(6); count > 0; --count) {
      bytes[8 + numbers.below(sizeof(UefiHandover) - 8)] = static_cast<std::byte>(numbers.next());
      uefi.memory[0x200 + numbers.below(0xc0)] = static_cast<std::byte>(numbers.next());
    }
    BootInfo info;
    const Result<void> read = uefi.read(info);
    EXPECT_TRUE(read.ok() || !read.error().text().empty());
  }
}

}  // namespace
}  // namespace ingot::os
