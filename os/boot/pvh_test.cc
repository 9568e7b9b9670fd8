#include "os/boot/pvh.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "os/boot/command_line.h"

namespace ingot::os {
namespace {

// A physical memory with PVH structures in it, written field by field as a loader would.
struct FakeLoader {
  std::vector<std::byte> memory = std::vector<std::byte>(0x4000);

  template <class Value>
  void put(std::size_t address, Value value) {
    std::memcpy(memory.data() + address, &value, sizeof value);
  }
  void put_entry(std::size_t index, std::uint64_t begin, std::uint64_t bytes, std::uint32_t type) {
    put(0x300 + 24 * index, begin);
    put(0x308 + 24 * index, bytes);
    put(0x310 + 24 * index, type);
  }

  FakeLoader() {
    put<std::uint32_t>(0x100, 0x336ec578);
    put<std::uint32_t>(0x104, 1);       // version
    put<std::uint32_t>(0x10c, 1);       // modules
    put<std::uint64_t>(0x110, 0x200);   // module list
    put<std::uint64_t>(0x118, 0x1000);  // command line
    put<std::uint64_t>(0x120, 0xf5b0);  // ACPI root
    put<std::uint64_t>(0x128, 0x300);   // memory map
    put<std::uint32_t>(0x130, 3);
    put<std::uint64_t>(0x200, 0x40'0000);  // the module
    put<std::uint64_t>(0x208, 0x1234);
    put_entry(0, 0, 0x9fc00, 1);
    put_entry(1, 0xf0000, 0x10000, 2);
    put_entry(2, 0x10'0000, 0x7f0'0000, 1);
    std::strcpy(reinterpret_cast<char*>(memory.data()) + 0x1000, "quiet debug-exit=0xf4");
  }

  Result<void> read(BootInfo& info) const {
    return read_pvh_start_info(LoaderMemory(memory), PhysicalAddress(0x100), info);
  }
};

TEST(Pvh, StartInfoBecomesBootInfo) {
  BootInfo info;
  const Result<void> read = FakeLoader().read(info);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(info.command_line.view(), "quiet debug-exit=0xf4");
  EXPECT_EQ(info.acpi_root, PhysicalAddress(0xf5b0));
  ASSERT_EQ(info.modules().size(), 1u);
  EXPECT_EQ(info.modules()[0], (PhysicalRange{PhysicalAddress(0x40'0000), 0x1234}));
  EXPECT_EQ(info.memory.bytes_of(MemoryKind::usable), 0x9fc00u + 0x7f0'0000 - 0x1234);
  EXPECT_EQ(info.memory.bytes_of(MemoryKind::reserved), 0x10000u);
  EXPECT_EQ(info.memory.bytes_of(MemoryKind::image), 0x1234u);
}

TEST(Pvh, WrongMagicAndOldVersionAreRefused) {
  FakeLoader loader;
  loader.put<std::uint32_t>(0x104, 0);
  BootInfo info;
  EXPECT_EQ(loader.read(info).error().code(), ErrorCode::unsupported);
  loader.put<std::uint32_t>(0x100, 0x336ec579);
  EXPECT_EQ(loader.read(info).error().code(), ErrorCode::corrupt);
}

TEST(Pvh, PointersOutsideMemoryAreErrors) {
  for (const std::size_t field : {0x110, 0x118, 0x128}) {
    for (const std::uint64_t wrong : {std::uint64_t{0x4000}, ~std::uint64_t{0}, ~std::uint64_t{0} - 16}) {
      FakeLoader loader;
      loader.put(field, wrong);
      BootInfo info;
      EXPECT_FALSE(loader.read(info).ok()) << std::hex << field << " " << wrong;
    }
  }
  BootInfo info;
  const FakeLoader loader;
  EXPECT_FALSE(read_pvh_start_info(LoaderMemory(loader.memory), PhysicalAddress(0x3ff0), info).ok());
}

TEST(Pvh, AnUnendedCommandLineIsCutAtTheEndOfMemory) {
  FakeLoader loader;
  loader.put<std::uint64_t>(0x118, 0x3ff8);
  std::memset(loader.memory.data() + 0x3ff8, 'x', 8);
  BootInfo info;
  ASSERT_TRUE(loader.read(info).ok());
  EXPECT_EQ(info.command_line.view(), "xxxxxxxx");
}

// Whatever the structures hold, the reader ends and stays inside memory (the sanitizers watch).
TEST(Pvh, RandomDamageIsSurvived) {
  RandomNumbers numbers(7);
  for (int round = 0; round < 3000; ++round) {
    FakeLoader loader;
    for (std::uint64_t count = 1 + numbers.below(6); count > 0; --count) {
      loader.memory[0x100 + numbers.below(0x250)] = static_cast<std::byte>(numbers.next());
    }
    BootInfo info;
    const Result<void> read = loader.read(info);
    EXPECT_TRUE(read.ok() || !read.error().text().empty());
  }
}

TEST(CommandLine, FindsOptionsByWholeNames) {
  constexpr std::string_view line = "  log=debug quiet log=info logger= x";
  EXPECT_EQ(command_line_option(line, "log"), "info");
  EXPECT_EQ(command_line_option(line, "quiet"), "");
  EXPECT_EQ(command_line_option(line, "logger"), "");
  EXPECT_EQ(command_line_option(line, "x"), "");
  EXPECT_FALSE(command_line_option(line, "lo").has_value());
  EXPECT_FALSE(command_line_option("", "x").has_value());
  EXPECT_EQ(command_line_option("x=1 -- x=2", "x"), "1");  // what follows is the program's
}

}  // namespace
}  // namespace ingot::os
