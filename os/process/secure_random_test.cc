#include "os/process/secure_random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

namespace ingot::os {
namespace {

// RFC 8439, 2.3.2: the whole block.
TEST(ChaCha20, GivesTheBlockOfTheExample) {
  ChaChaKey key{};
  for (std::uint32_t i = 0; i < 8; ++i) key[i] = 0x03020100 + i * 0x04040404;
  const ChaChaBlock expected = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033,
                                0x9aaa2204, 0x4e6cd4c3, 0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
  EXPECT_EQ(chacha20_block(key, 1, {0x09000000, 0x4a000000, 0}), expected);
}

TEST(SecureRandom, DifferEachTimeAndFillOddLengths) {
  SecureRandom random;
  Log log;
  random.start(1, log);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.number());
  EXPECT_EQ(seen.size(), 1000u);
  std::array<std::byte, 101> bytes{};
  random.fill(std::span(bytes).first(100));
  EXPECT_EQ(bytes[100], std::byte{0});  // not beyond
  EXPECT_NE(std::memcmp(bytes.data(), bytes.data() + 32, 32), 0);
}

TEST(SecureRandom, EveryByteThatIsStirredInCounts) {
  const auto drawn_after = [](std::span<const std::byte> more) {
    SecureRandom random;
    random.stir(more);
    return random.number();
  };
  std::array<std::byte, 70> more{};
  std::set<std::uint64_t> seen{drawn_after({}), drawn_after(more)};
  for (std::byte& byte : more) {
    byte = std::byte{1};
    seen.insert(drawn_after(more));
  }
  EXPECT_EQ(seen.size(), 72u);
}

TEST(SecureRandom, SaysSoWhereTheCpuHasNoSource) {
  SecureRandom random;
  Log log;
  random.start(1, log);
  std::string_view last;
  log.visit_kept([&](std::string_view line) { last = line; });
  EXPECT_TRUE(last.starts_with("warning: random: expected a CPU with RDRAND, found none")) << last;
}

}  // namespace
}  // namespace ingot::os
