// A row's block into the eight that stand together (interleaved.h), and out of them. All of it is bytes, and constexpr
// so that sources for devices can have it too.
#pragma once

#include "tensor/interleaved.h"
#include "tensor/interleaved_codes.h"

namespace ingot {

// --- q4_0 and q8_0 ---

constexpr auto& code_bytes(auto& block) {
  if constexpr (requires { block.low; }) {
    return block.low;
  } else {
    return block.codes;
  }
}

template <class Block>
constexpr void put_block(const Block& from, std::int64_t lane, InterleavedBlocks<Block>& to) {
  to.scales[lane] = from.scale;
  const auto& codes = code_bytes(from);
  for (int i = 0; i < InterleavedBlocks<Block>::quads; ++i) copy_bytes<4>(codes + 4 * i, to.codes[i][lane]);
}
template <class Block>
constexpr void take_block(const InterleavedBlocks<Block>& from, std::int64_t lane, Block& to) {
  to.scale = from.scales[lane];
  auto& codes = code_bytes(to);
  for (int i = 0; i < InterleavedBlocks<Block>::quads; ++i) copy_bytes<4>(from.codes[i][lane], codes + 4 * i);
}

// --- q5_0 ---

// Four bits to the bottom of four bytes: the multiplication copies bit i to bit 8 i, and no two copies meet.
constexpr CodeWord spread_bits(std::uint32_t four) { return four * 0x00204081u & 0x01010101u; }
// And back: the product's top nibble gathers bits 0, 8, 16 and 24.
constexpr std::uint32_t gather_bits(CodeWord spread) { return spread * 0x10204080u >> 28; }

constexpr void put_block(const BlockQ5_0& from, std::int64_t lane, InterleavedBlocks<BlockQ5_0>& to) {
  to.scales[lane] = from.scale;
  const CodeWord high = code_word(from.high);
  CodeWord codes[8] = {}, bytes[5] = {};
  for (int i = 0; i < 4; ++i) {
    const CodeWord low = code_word(from.low + 4 * i);
    codes[i] = bits_of<0, 4>(low) | spread_bits(high >> 4 * i & 15) << 4;
    codes[i + 4] = bits_of<4, 4>(low) | spread_bits(high >> (4 * i + 16) & 15) << 4;
  }
  pack_fives(codes, bytes);
  for (int i = 0; i < 5; ++i) store_code_word(bytes[i], to.codes[i][lane]);
}
constexpr void take_block(const InterleavedBlocks<BlockQ5_0>& from, std::int64_t lane, BlockQ5_0& to) {
  to.scale = from.scales[lane];
  CodeWord codes[8] = {}, bytes[5] = {};
  for (int i = 0; i < 5; ++i) bytes[i] = code_word(from.codes[i][lane]);
  unpack_fives(bytes, codes);
  std::uint32_t high = 0;
  for (int i = 0; i < 4; ++i) {
    store_code_word(bits_of<0, 4>(codes[i]) | bits_of<0, 4>(codes[i + 4]) << 4, to.low + 4 * i);
    high |= gather_bits(bits_of<4, 1>(codes[i])) << 4 * i | gather_bits(bits_of<4, 1>(codes[i + 4])) << (4 * i + 16);
  }
  store_code_word(high, to.high);
}

// --- q4_k ---

// Sixteen 6-bit numbers s_0 to s_3 of pack_sixes, a byte at a time: number i of sixteen `at`.
constexpr int six_at(const std::uint8_t (&bytes)[3][16], int number, std::int64_t at) {
  if (number < 3) return bytes[number][at] & 63;
  return bytes[0][at] >> 6 | bytes[1][at] >> 6 << 2 | bytes[2][at] >> 6 << 4;
}
constexpr void put_six(int value, int number, std::int64_t at, std::uint8_t (&bytes)[3][16]) {
  if (number < 3) {
    bytes[number][at] = static_cast<std::uint8_t>((bytes[number][at] & 0xc0) | value);
    return;
  }
  for (int i = 0; i < 3; ++i) {
    bytes[i][at] = static_cast<std::uint8_t>((bytes[i][at] & 0x3f) | (value >> 2 * i & 3) << 6);
  }
}
// Where the scale and the minimum of group g of a row stand.
constexpr std::int64_t scale_place(int g, std::int64_t lane) { return g % 2 * interleaved_rows + lane; }
constexpr int minimum_number(int g, std::int64_t lane) { return g / 4 * 2 + static_cast<int>(lane / 4); }
constexpr std::int64_t minimum_place(int g, std::int64_t lane) { return lane % 4 * 4 + g % 4; }

constexpr void put_block(const BlockQ4_K& from, std::int64_t lane, InterleavedBlocks<BlockQ4_K>& to) {
  to.scales[lane] = from.scale;
  to.minimums[lane] = from.minimum;
  for (int g = 0; g < 8; ++g) {
    put_six(k_scale(from.scales, g), g / 2, scale_place(g, lane), to.group_scales);
    put_six(k_minimum(from.scales, g), minimum_number(g, lane), minimum_place(g, lane), to.group_minimums);
  }
  for (int i = 0; i < 16; ++i) copy_bytes<8>(from.low + 8 * i, to.codes[i][lane]);
}
constexpr void take_block(const InterleavedBlocks<BlockQ4_K>& from, std::int64_t lane, BlockQ4_K& to) {
  to.scale = from.scales[lane];
  to.minimum = from.minimums[lane];
  for (int g = 0; g < 4; ++g) {
    const auto scale = [&](int group) { return six_at(from.group_scales, group / 2, scale_place(group, lane)); };
    const auto minimum = [&](int group) {
      return six_at(from.group_minimums, minimum_number(group, lane), minimum_place(group, lane));
    };
    to.scales[g] = static_cast<std::uint8_t>(scale(g) | scale(g + 4) >> 4 << 6);
    to.scales[g + 4] = static_cast<std::uint8_t>(minimum(g) | minimum(g + 4) >> 4 << 6);
    to.scales[g + 8] = static_cast<std::uint8_t>((scale(g + 4) & 15) | (minimum(g + 4) & 15) << 4);
  }
  for (int i = 0; i < 16; ++i) copy_bytes<8>(from.codes[i][lane], to.low + 8 * i);
}

// --- q6_k ---

constexpr void put_block(const BlockQ6_K& from, std::int64_t lane, InterleavedBlocks<BlockQ6_K>& to) {
  to.scales[lane] = from.scale;
  for (int g = 0; g < 16; ++g) to.group_scales[g][lane] = from.scales[g];
  CodeWord quads[16][4] = {};  // elements 16 g + 4 i and on
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 8; ++i) {
      const CodeWord first = code_word(from.low + 64 * half + 4 * i);
      const CodeWord second = code_word(from.low + 64 * half + 32 + 4 * i);
      const CodeWord high = code_word(from.high + 32 * half + 4 * i);
      CodeWord* to_quad = quads[8 * half + i / 4] + i % 4;  // 32 elements on: two groups, eight quads
      to_quad[0] = bits_of<0, 4>(first) | bits_of<0, 2>(high) << 4;
      to_quad[8] = bits_of<0, 4>(second) | bits_of<2, 2>(high) << 4;
      to_quad[16] = bits_of<4, 4>(first) | bits_of<4, 2>(high) << 4;
      to_quad[24] = bits_of<4, 4>(second) | bits_of<6, 2>(high) << 4;
    }
  }
  for (int g = 0; g < 16; ++g) {
    CodeWord bytes[3] = {};
    pack_sixes(quads[g], bytes);
    for (int i = 0; i < 3; ++i) store_code_word(bytes[i], to.codes[g][i][lane]);
  }
}
constexpr void take_block(const InterleavedBlocks<BlockQ6_K>& from, std::int64_t lane, BlockQ6_K& to) {
  to.scale = from.scales[lane];
  for (int g = 0; g < 16; ++g) to.scales[g] = from.group_scales[g][lane];
  CodeWord quads[16][4] = {};
  for (int g = 0; g < 16; ++g) {
    CodeWord bytes[3] = {};
    for (int i = 0; i < 3; ++i) bytes[i] = code_word(from.codes[g][i][lane]);
    unpack_sixes(bytes, quads[g]);
  }
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 8; ++i) {
      const CodeWord* quad = quads[8 * half + i / 4] + i % 4;
      const CodeWord of_four[] = {quad[0], quad[8], quad[16], quad[24]};
      store_code_word(bits_of<0, 4>(of_four[0]) | bits_of<0, 4>(of_four[2]) << 4, to.low + 64 * half + 4 * i);
      store_code_word(bits_of<0, 4>(of_four[1]) | bits_of<0, 4>(of_four[3]) << 4, to.low + 64 * half + 32 + 4 * i);
      CodeWord high = 0;
      for (int n = 0; n < 4; ++n) high |= bits_of<4, 2>(of_four[n]) << 2 * n;
      store_code_word(high, to.high + 32 * half + 4 * i);
    }
  }
}

}  // namespace ingot
