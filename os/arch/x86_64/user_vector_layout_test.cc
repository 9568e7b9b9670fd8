#include "os/arch/x86_64/user_vector_layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace ingot::os::arch {
namespace {

struct Words {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
using Leaves = std::map<std::pair<std::uint32_t, std::uint32_t>, Words>;

constexpr std::uint32_t xsave = 1u << 26;
constexpr std::uint32_t xsaveopt = 1, forbids = 1u << 4;

// As a Sapphire Rapids tells them.
Leaves leaves_with_tiles() {
  return {{{1, 0}, {.ecx = xsave}},       {{0xd, 0}, {.eax = 0x602e7}}, {{0xd, 1}, {.eax = xsaveopt | 0xe | forbids}},
          {{0xd, 2}, {256, 576, 0, 0}},   {{0xd, 5}, {64, 1088, 0, 0}}, {{0xd, 6}, {512, 1152, 0, 0}},
          {{0xd, 7}, {1024, 1664, 0, 0}}, {{0xd, 9}, {8, 2688, 0, 0}},  {{0xd, 17}, {64, 2752, 2, 0}},
          {{0xd, 18}, {8192, 2816, 6, 0}}};
}
VectorLayout read(Leaves leaves) {
  return VectorLayout::read([&](std::uint32_t leaf, std::uint32_t subleaf) { return leaves[{leaf, subleaf}]; });
}

TEST(VectorLayout, KeepsTilesOutOfWhatEveryThreadHas) {
  const VectorLayout layout = read(leaves_with_tiles());
  EXPECT_EQ(layout.parts, 0x600e7u);  // without protection keys
  EXPECT_EQ(layout.usual_parts(), 0x200e7u);
  EXPECT_EQ(layout.usual_bytes, 2816u);
  EXPECT_EQ(layout.all_bytes, 11008u);
  EXPECT_EQ(layout.bytes_of(layout.usual_parts()), 2816u);
  EXPECT_EQ(layout.bytes_of(layout.parts), 11008u);
  EXPECT_EQ(layout.tile_configuration_place, 2752u);
  EXPECT_EQ(layout.instruction, VectorLayout::Instruction::xsaveopt);
}

TEST(VectorLayout, LeavesTilesOutWhereNobodyCouldBeKeptFromThem) {
  Leaves leaves = leaves_with_tiles();
  leaves[{0xd, 1}].eax &= ~forbids;
  const VectorLayout layout = read(leaves);
  EXPECT_EQ(layout.parts, 0xe7u);
  EXPECT_EQ(layout.all_bytes, 2688u);
  EXPECT_EQ(layout.usual_bytes, 2688u);
}

TEST(VectorLayout, IsTheLegacyOneWithoutXsave) {
  const VectorLayout layout = read({});
  EXPECT_EQ(layout.parts, 3u);
  EXPECT_EQ(layout.usual_bytes, 512u);
  EXPECT_EQ(layout.instruction, VectorLayout::Instruction::fxsave);
}

TEST(VectorLayout, TakesTheControlBitsThatTheCpuTells) {
  VectorLayout layout;
  layout.set_control_bits(0);
  EXPECT_EQ(layout.control_bits, 0xffbfu);
  layout.set_control_bits(0x2ffff);  // with DAZ, and AMD's bit for misaligned operands
  EXPECT_EQ(layout.control_bits, 0x2ffffu);
}

class MakeLoadable : public testing::Test {
 protected:
  MakeLoadable() : layout(read(leaves_with_tiles())), state(layout.all_bytes) {}
  void put(std::size_t place, std::uint64_t value, std::size_t bytes) { std::memcpy(&state[place], &value, bytes); }
  std::uint64_t word(std::size_t place) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &state[place], sizeof value);
    return value;
  }
  // Tile 0: 16 rows of 64 bytes.
  void configure() {
    put(2752, 1, 1);
    put(2752 + 16, 64, 2);
    put(2752 + 48, 16, 1);
  }

  VectorLayout layout;
  std::vector<std::byte> state;
};

TEST_F(MakeLoadable, KeepsTheControlBitsThatTheCpuHas) {
  layout.set_control_bits(0xffff);
  put(24, ~0ull, 4);
  make_loadable(state, layout.parts, layout);
  EXPECT_EQ(word(24) & 0xffffffff, 0xffffu);
}

TEST_F(MakeLoadable, KeepsOnlyPartsThatAreHeldWantedAndEnabled) {
  put(512, ~0ull, 8);
  put(520, ~0ull, 8);  // a compact layout, and what the CPU keeps for later
  put(536, ~0ull, 8);
  configure();
  make_loadable(state, layout.parts & ~4u, layout);
  EXPECT_EQ(word(512), layout.parts & ~4u);
  EXPECT_EQ(word(520), 0u);
  EXPECT_EQ(word(536), 0u);
}

TEST_F(MakeLoadable, LoadsTilesByAConfigurationThatIsOne) {
  configure();
  put(512, layout.parts, 8);
  make_loadable(state, layout.parts, layout);
  EXPECT_EQ(word(512), layout.parts);
  constexpr std::pair<std::size_t, std::uint8_t> spoilt[] = {{0, 0},  {0, 2},  {1, 16},  {2, 1},  {15, 1}, {16, 65},
                                                             {16, 0}, {17, 1}, {48, 17}, {48, 0}, {32, 4}, {56, 1}};
  for (const auto& [place, value] : spoilt) {
    std::fill(state.begin(), state.end(), std::byte{0});
    configure();
    put(512, layout.parts, 8);
    put(2752 + place, value, 1);
    make_loadable(state, layout.parts, layout);
    EXPECT_EQ(word(512), layout.parts & ~0x60000u) << place << ": " << int{value};
  }
}

TEST_F(MakeLoadable, LoadsNoTilesWithoutTheirConfiguration) {
  put(512, VectorLayout::tile_data, 8);
  make_loadable(state, layout.parts, layout);
  EXPECT_EQ(word(512), 0u);
}

}  // namespace
}  // namespace ingot::os::arch
