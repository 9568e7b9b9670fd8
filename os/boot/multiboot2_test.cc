#include "os/boot/multiboot2.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"

namespace ingot::os {
namespace {

// A physical memory with boot information at 0x100, tag behind tag as GRUB writes it.
class FakeGrub {
 public:
  static constexpr std::size_t information = 0x100;

  FakeGrub() {
    tag(1, text("quiet serial"));
    tag(2, text("GRUB 2.06"));
    tag(3, words({0x40'0000, 0x40'1234, 0}));
    tag(6, words({24,         0,                          // size and version of an entry
                  0,          0, 0x9fc00,    0, 1, 0,     // usable
                  0x10'0000,  0, 0x7f0'0000, 0, 1, 0,     // usable
                  0x7fe'0000, 0, 0x2'0000,   0, 3, 0}));  // ACPI
    tag(8, words({0xfd00'0000, 0, 4096, 1024, 768, 0x0120}));
    tag(14, text("RSD PTR version 1"));
    tag(15, text("RSD PTR version 2"));
    tag(0, {});
  }

  std::vector<std::byte> memory = std::vector<std::byte>(information + 8);

  Result<void> read(BootInfo& info) {
    put(information, static_cast<std::uint32_t>(memory.size() - information));
    return read_multiboot2_information(LoaderMemory(memory), PhysicalAddress(information), info);
  }
  void put(std::size_t at, std::uint32_t value) { std::memcpy(memory.data() + at, &value, sizeof value); }

 private:
  static std::vector<std::byte> text(const std::string& letters) {
    std::vector<std::byte> bytes(letters.size() + 1);
    std::memcpy(bytes.data(), letters.c_str(), bytes.size());
    return bytes;
  }
  static std::vector<std::byte> words(const std::vector<std::uint32_t>& values) {
    std::vector<std::byte> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  void tag(std::uint32_t type, const std::vector<std::byte>& body) {
    const std::size_t at = memory.size();
    memory.resize(round_up(at + 8 + body.size(), 8));
    put(at, type);
    put(at + 4, static_cast<std::uint32_t>(8 + body.size()));
    if (!body.empty()) std::memcpy(memory.data() + at + 8, body.data(), body.size());
  }
};

TEST(Multiboot2, InformationBecomesBootInfo) {
  FakeGrub grub;
  BootInfo info;
  const Result<void> read = grub.read(info);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(info.command_line.view(), "quiet serial");
  ASSERT_EQ(info.modules().size(), 1u);
  EXPECT_EQ(info.modules()[0], (PhysicalRange{PhysicalAddress(0x40'0000), 0x1234}));
  ASSERT_TRUE(info.framebuffer.has_value());
  EXPECT_EQ(info.framebuffer->address, PhysicalAddress(0xfd00'0000));
  EXPECT_EQ(info.framebuffer->pitch, 4096u);
  EXPECT_EQ(info.framebuffer->width, 1024u);
  EXPECT_EQ(info.framebuffer->height, 768u);
  EXPECT_EQ(info.framebuffer->bits_per_pixel, 32);
  EXPECT_EQ(info.memory.bytes_of(MemoryKind::image), 0x1234u);
  EXPECT_EQ(info.memory.end_of_memory(), PhysicalAddress(0x800'0000));
}

TEST(Multiboot2, TheNewerAcpiRootCountsAndIsKept) {
  FakeGrub grub;
  BootInfo info;
  ASSERT_TRUE(grub.read(info).ok());
  ASSERT_TRUE(info.acpi_root.has_value());
  EXPECT_STREQ(reinterpret_cast<const char*>(grub.memory.data()) + info.acpi_root->value(), "RSD PTR version 2");
  EXPECT_EQ(info.memory.bytes_of(MemoryKind::acpi_reclaimable), 0x2'0000 + grub.memory.size() - FakeGrub::information);
}

TEST(Multiboot2, AMissingLastTagIsAnError) {
  FakeGrub grub;
  grub.memory.resize(grub.memory.size() - 8);
  BootInfo info;
  EXPECT_EQ(grub.read(info).error().code(), ErrorCode::corrupt);
}

TEST(Multiboot2, TagsOfImpossibleSizesAreErrors) {
  for (const std::uint32_t bytes : {0u, 7u, 0x10000u, ~0u}) {
    FakeGrub grub;
    grub.put(FakeGrub::information + 8 + 4, bytes);
    BootInfo info;
    EXPECT_FALSE(grub.read(info).ok()) << bytes;
  }
  FakeGrub grub;
  BootInfo info;
  grub.put(FakeGrub::information, ~0u);
  const LoaderMemory memory(grub.memory);
  EXPECT_FALSE(read_multiboot2_information(memory, PhysicalAddress(FakeGrub::information), info).ok());
  EXPECT_FALSE(read_multiboot2_information(memory, PhysicalAddress(~std::uint64_t{0} - 3), info).ok());
}

// Whatever the tags hold, the reader ends and stays inside memory (the sanitizers watch).
TEST(Multiboot2, RandomDamageIsSurvived) {
  RandomNumbers numbers(11);
  for (int round = 0; round < 3000; ++round) {
    FakeGrub grub;
    for (std::uint64_t count = 1 + numbers.below(6); count > 0; --count) {
      const std::size_t at = FakeGrub::information + 8 + numbers.below(grub.memory.size() - FakeGrub::information - 8);
      grub.memory[at] = static_cast<std::byte>(numbers.next());
    }
    BootInfo info;
    const Result<void> read = grub.read(info);
    EXPECT_TRUE(read.ok() || !read.error().text().empty());
  }
}

}  // namespace
}  // namespace ingot::os
