#include "machine/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "machine/huge_pages.h"

namespace ingot {
namespace {

using namespace literals;

bool aligned(const Memory& memory, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(memory.data()) % alignment == 0;
}

TEST(Memory, IsZeroedAlignedAndWritable) {
  for (std::size_t alignment :
       {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{1} << 16, std::size_t{2} << 20}) {
    for (Bytes size : {Bytes(1), Bytes(4097), 1_MiB, 2_MiB, Bytes((5ull << 20) + 3)}) {
      Result<Memory> got = Memory::allocate(size, alignment);
      ASSERT_TRUE(got.ok()) << got.error().text();
      const Memory& memory = got.value();
      EXPECT_GE(memory.size(), size.count());
      EXPECT_TRUE(aligned(memory, alignment)) << alignment;
      auto zeros = std::count(memory.bytes().begin(), memory.bytes().end(), std::byte{0});
      EXPECT_EQ(static_cast<std::size_t>(zeros), memory.size());
      std::fill(memory.bytes().begin(), memory.bytes().end(), std::byte{0x5a});
      EXPECT_EQ(memory.bytes().back(), std::byte{0x5a});
    }
  }
}

TEST(Memory, LargeRequestsStartOnAHugePageAndSayWhatTheyGot) {
  Result<Memory> large = Memory::allocate(4_MiB);
  ASSERT_TRUE(large.ok());
  EXPECT_TRUE(aligned(large.value(), std::size_t{2} << 20));
  if (!transparent_huge_pages_granted()) {
    EXPECT_NE(large.value().backing(), PageBacking::transparent_huge);
  }
  Result<Memory> small = Memory::allocate(64_KiB);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small.value().backing(), PageBacking::ordinary);
}

TEST(Memory, NothingIsAskedForAndNothingIsGot) {
  Result<Memory> got = Memory::allocate(Bytes(0));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.value().size(), 0u);
  EXPECT_TRUE(got.value().bytes().empty());
}

TEST(Memory, BadRequestsAreErrorsThatSayWhatWasFound) {
  for (std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{4} << 20}) {
    Result<Memory> got = Memory::allocate(1_KiB, alignment);
    ASSERT_FALSE(got.ok()) << alignment;
    EXPECT_EQ(got.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(got.error().text()).find("found " + std::to_string(alignment)), std::string::npos);
  }
  Result<Memory> wrapping = Memory::allocate(Bytes(std::numeric_limits<std::uint64_t>::max()));
  ASSERT_FALSE(wrapping.ok());
  EXPECT_EQ(wrapping.error().code(), ErrorCode::overflow);
  Result<Memory> beyond = Memory::allocate(Bytes(std::uint64_t{1} << 60));  // more than any address space
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().code(), ErrorCode::out_of_memory);
}

TEST(Memory, MovesLeaveNothingBehind) {
  Memory first = Memory::allocate(1_MiB).value();
  std::byte* data = first.data();
  Memory second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(first.size(), 0u);
  Memory third = Memory::allocate(1_KiB).value();
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(second.data(), nullptr);
  third.data()[0] = std::byte{1};
}

TEST(HugePages, SettingsDecideWhetherAdviceCounts) {
  EXPECT_TRUE(transparent_huge_pages_granted("always [madvise] never", "", ""));
  EXPECT_TRUE(transparent_huge_pages_granted("[always] madvise never", "always [inherit] madvise never", "2097152\n"));
  EXPECT_FALSE(transparent_huge_pages_granted("always madvise [never]", "", ""));
  EXPECT_FALSE(transparent_huge_pages_granted("always madvise [never]", "always [inherit] madvise never", ""));
  EXPECT_FALSE(transparent_huge_pages_granted("[always] madvise never", "always inherit madvise [never]", ""));
  EXPECT_TRUE(transparent_huge_pages_granted("always madvise [never]", "[always] inherit madvise never", ""));
  EXPECT_FALSE(transparent_huge_pages_granted("[always] madvise never", "", "536870912"));
}

}  // namespace
}  // namespace ingot
