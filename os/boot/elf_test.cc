#include "os/boot/elf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.h"

namespace ingot::os {
namespace {

// A file of two loadable segments, written field by field.
struct FakeElf {
  std::vector<std::byte> file = std::vector<std::byte>(0x3000);

  template <class Value>
  void put(std::size_t offset, Value value) {
    std::memcpy(file.data() + offset, &value, sizeof value);
  }
  void put_segment(std::size_t index, const ElfSegment& segment) { put(64 + 56 * index, segment); }

  FakeElf() {
    put<std::uint32_t>(0, 0x464c457f);
    put<std::uint8_t>(4, 2);     // 64 bits
    put<std::uint8_t>(5, 1);     // little-endian
    put<std::uint16_t>(16, 2);   // executable
    put<std::uint16_t>(18, 62);  // x86_64
    put<std::uint64_t>(24, 0x401010);
    put<std::uint64_t>(32, 64);  // program headers
    put<std::uint16_t>(54, 56);
    put<std::uint16_t>(56, 2);
    put_segment(0, {ElfSegment::loadable, 5, 0x1000, 0x401000, 0x1000, 0x800, 0x800, 0x1000});
    put_segment(1, {ElfSegment::loadable, 6, 0x2000, 0x402000, 0x2000, 0x1000, 0x1800, 0x1000});
    put<std::uint8_t>(0x1000, 0xc3);
  }
  Result<ElfFile> read() const { return ElfFile::create(file, ElfMachine::x86_64); }
  ErrorCode code() const {
    const Result<ElfFile> elf = read();
    EXPECT_FALSE(elf.ok());
    return elf.ok() ? ErrorCode{} : elf.error().code();
  }
};

TEST(Elf, SegmentsAndEntryAreRead) {
  const FakeElf fake;
  const Result<ElfFile> elf = fake.read();
  ASSERT_TRUE(elf.ok()) << elf.error().text();
  EXPECT_EQ(elf.value().entry(), 0x401010u);
  EXPECT_EQ(elf.value().type(), ElfType::executable);
  ASSERT_EQ(elf.value().segment_count(), 2u);
  const ElfSegment second = elf.value().segment(1);
  EXPECT_EQ(second.address, 0x402000u);
  EXPECT_EQ(second.memory_bytes, 0x1800u);
  EXPECT_EQ(elf.value().bytes_of(elf.value().segment(0))[0], std::byte{0xc3});
}

TEST(Elf, OtherFilesAreRefused) {
  EXPECT_FALSE(ElfFile::create({}, ElfMachine::x86_64).ok());
  for (const std::size_t field : {0, 4, 5}) {
    FakeElf fake;
    fake.put<std::uint8_t>(field, 9);
    EXPECT_EQ(fake.code(), ErrorCode::corrupt) << field;
  }
  for (const std::size_t field : {16, 18}) {
    FakeElf fake;
    fake.put<std::uint16_t>(field, 1);
    EXPECT_EQ(fake.code(), ErrorCode::unsupported) << field;
  }
}

TEST(Elf, EveryOffsetAndCountIsChecked) {
  struct Damage {
    std::size_t field;
    std::uint64_t value;
  };
  constexpr std::size_t first = 64, second = 64 + 56;
  for (const Damage& damage : {
           Damage{32, 0x3000 - 100},         // program headers pass the end
           Damage{32, ~std::uint64_t{0}},    // and wrap
           Damage{first + 8, 0x2801},        // bytes pass the end of the file
           Damage{first + 8, ~0ull},         //
           Damage{first + 32, 0x801},        // more in the file than in memory
           Damage{second + 16, ~0ull << 12}  // the address wraps
           ,
           Damage{second + 24, ~0ull << 12},  // the physical address wraps
           Damage{second + 16, 0x402001},     // not congruent
           Damage{second + 16, 0x400000},     // not ascending
           Damage{first + 40, 0x1001},        // overlapping
       }) {
    FakeElf fake;
    fake.put(damage.field, damage.value);
    EXPECT_EQ(fake.code(), ErrorCode::corrupt) << damage.field << " " << damage.value;
  }
  FakeElf too_many, too_small, odd;
  too_many.put<std::uint16_t>(56, 0xffff);
  EXPECT_EQ(too_many.code(), ErrorCode::corrupt);
  too_small.put<std::uint16_t>(54, 55);
  EXPECT_EQ(too_small.code(), ErrorCode::corrupt);
  odd.put_segment(1, {ElfSegment::loadable, 6, 0x2000, 0x602000, 0x2000, 0x1000, 0x1800, 0x3000});
  EXPECT_EQ(odd.code(), ErrorCode::corrupt);
}

// Whatever the bytes, the reader ends, and what it accepts can be loaded (the sanitizers watch).
TEST(Elf, RandomDamageIsSurvived) {
  RandomNumbers numbers(5);
  for (int round = 0; round < 5000; ++round) {
    FakeElf fake;
    for (std::uint64_t count = 1 + numbers.below(4); count > 0; --count) {
      fake.file[numbers.below(64 + 2 * 56)] = static_cast<std::byte>(numbers.next());
    }
    const Result<ElfFile> elf = fake.read();
    if (!elf.ok()) continue;
    for (std::size_t index = 0; index < elf.value().segment_count(); ++index) {
      for (const std::byte byte : elf.value().bytes_of(elf.value().segment(index))) fake.put(0, byte);
    }
  }
}

}  // namespace
}  // namespace ingot::os
