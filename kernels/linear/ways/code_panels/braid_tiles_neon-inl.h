// Tiles of weights from braids (tensor/interleaved.h). A braid is as wide as a tile, and a register of it holds four
// codes of each of four rows; two that follow each other, zipped by words, are two units of eight codes. Those of Q4_K
// are units as they lie. Part of a source, after matrix_tile_neon-inl.h.

// Eight codes of all rows, unit by unit.
using EightCodes = uint8x16_t[tile_units];

HWY_INLINE void zip_quads(const uint8x16_t (&first)[2], const uint8x16_t (&second)[2], EightCodes& to) {
  unrolled<2>(INGOT_UNROLLED(half) {
    const uint32x4_t a = vreinterpretq_u32_u8(first[half]), b = vreinterpretq_u32_u8(second[half]);
    to[2 * half] = vreinterpretq_u8_u32(vzip1q_u32(a, b));
    to[2 * half + 1] = vreinterpretq_u8_u32(vzip2q_u32(a, b));
  });
}
HWY_INLINE void load_quads(const Quads* two, EightCodes& to) {
  zip_quads({vld1q_u8(two[0][0]), vld1q_u8(two[0][4])}, {vld1q_u8(two[1][0]), vld1q_u8(two[1][4])}, to);
}
// function(unit of codes), stored.
template <class Function>
HWY_INLINE void store_eight(const EightCodes& from, std::int8_t (&to)[tile_units][16], Function function) {
  unrolled<tile_units>(INGOT_UNROLLED(unit) { vst1q_s8(to[unit], vreinterpretq_s8_u8(function(from[unit]))); });
}

// A number of each row in the lanes of its products.
HWY_INLINE void spread_halves(const StoredHalf (&rows)[interleaved_rows], float factor, float32x4_t (&to)[tile_units]) {
  const float16x8_t halves = vreinterpretq_f16_u16(vld1q_u16(reinterpret_cast<const std::uint16_t*>(rows)));
  const float32x4_t lower = vmulq_n_f32(vcvt_f32_f16(vget_low_f16(halves)), factor);
  const float32x4_t upper = vmulq_n_f32(vcvt_high_f32_f16(halves), factor);
  to[0] = vzip1q_f32(lower, lower);
  to[1] = vzip2q_f32(lower, lower);
  to[2] = vzip1q_f32(upper, upper);
  to[3] = vzip2q_f32(upper, upper);
}
HWY_INLINE void multiply_units(const float32x4_t (&units)[tile_units], float factor, float32x4_t (&to)[tile_units]) {
  unrolled<tile_units>(INGOT_UNROLLED(unit) { to[unit] = vmulq_n_f32(units[unit], factor); });
}

// --- formats of 32 ---

// By how much the codes below are larger than those of the format. Sums of 32 products stay below 2^22.
template <class Block>
constexpr float codes_factor = std::is_same_v<Block, BlockQ4_0> ? 16 : 1;

// With the highest bit of both nibbles turned over, their numbers less eight are signed nibbles; those in the upper
// half of a byte are sixteen times as much.
HWY_INLINE void unpack_codes(const InterleavedBlocks<BlockQ4_0>& from, TileCodes& to) {
  unrolled<2>(INGOT_UNROLLED(two) {
    EightCodes bytes;
    load_quads(from.codes + 2 * two, bytes);
    unrolled<tile_units>(INGOT_UNROLLED(unit) { bytes[unit] = veorq_u8(bytes[unit], vdupq_n_u8(0x88)); });
    store_eight(bytes, to.eights[two], INGOT_UNROLLED(unit) { return vshlq_n_u8(unit, 4); });
    store_eight(bytes, to.eights[2 + two], INGOT_UNROLLED(unit) { return vandq_u8(unit, vdupq_n_u8(0xf0)); });
  });
}
HWY_INLINE void unpack_codes(const InterleavedBlocks<BlockQ8_0>& from, TileCodes& to) {
  unrolled<4>(INGOT_UNROLLED(two) {
    EightCodes codes;
    load_quads(from.codes + 2 * two, codes);
    store_eight(codes, to.eights[two], INGOT_UNROLLED(unit) { return unit; });
  });
}
// Shifts with insertion bring what lies above other codes (pack_fives).
HWY_INLINE void unpack_codes(const InterleavedBlocks<BlockQ5_0>& from, TileCodes& to) {
  uint8x16_t quads[8][2];
  unrolled<2>(INGOT_UNROLLED(half) {
    uint8x16_t bytes[5];
    unrolled<5>(INGOT_UNROLLED(i) {
      bytes[i] = vld1q_u8(from.codes[i][4 * half]);
      quads[i][half] = vandq_u8(bytes[i], vdupq_n_u8(31));
    });
    quads[5][half] = vsriq_n_u8(vshrq_n_u8(bytes[1], 3), bytes[0], 5);
    const uint8x16_t lowest_two = vsliq_n_u8(vshrq_n_u8(bytes[3], 5), vshrq_n_u8(bytes[1], 5), 1);
    quads[6][half] = vsliq_n_u8(lowest_two, vshrq_n_u8(bytes[2], 5), 2);
    quads[7][half] = vsriq_n_u8(vshrq_n_u8(bytes[3], 3), bytes[4], 5);
  });
  unrolled<4>(INGOT_UNROLLED(two) {
    EightCodes codes;
    zip_quads(quads[2 * two], quads[2 * two + 1], codes);
    store_eight(codes, to.eights[two], INGOT_UNROLLED(unit) { return vsubq_u8(unit, vdupq_n_u8(16)); });
  });
}

template <class Block>
  requires requires(const InterleavedBlocks<Block>& from, TileCodes& to) { unpack_codes(from, to); }
HWY_INLINE void unpack_blocks(const InterleavedBlocks<Block>& from, TileBlock<Block>& to) {
  unpack_codes(from, to.codes);
  spread_halves(from.scales, 1 / codes_factor<Block>, to.scales);
  multiply_units(to.scales, -float_start, to.less_starts);
}

// --- formats of 256 ---

// From four 6-bit numbers in three bytes (pack_sixes).
HWY_INLINE void unpack_sixes(const uint8x16_t (&bytes)[3], uint8x16_t (&codes)[4]) {
  unrolled<3>(INGOT_UNROLLED(i) { codes[i] = vandq_u8(bytes[i], vdupq_n_u8(63)); });
  codes[3] = vsriq_n_u8(vsriq_n_u8(vshrq_n_u8(bytes[2], 2), bytes[1], 4), bytes[0], 6);
}

// Integers of eight rows in the lanes of their products. They have nine bits at most, so that the upper of two bytes
// is the sign, and all that four have above the lowest.
alignas(16) constexpr std::uint8_t lanes_of_rows[tile_units][16] = {
    {0, 1, 1, 1, 0, 1, 1, 1, 2, 3, 3, 3, 2, 3, 3, 3},
    {4, 5, 5, 5, 4, 5, 5, 5, 6, 7, 7, 7, 6, 7, 7, 7},
    {8, 9, 9, 9, 8, 9, 9, 9, 10, 11, 11, 11, 10, 11, 11, 11},
    {12, 13, 13, 13, 12, 13, 13, 13, 14, 15, 15, 15, 14, 15, 15, 15}};
HWY_INLINE void spread_integers(int16x8_t rows, int32x4_t (&to)[tile_units]) {
  unrolled<tile_units>(INGOT_UNROLLED(unit) {
    to[unit] = vreinterpretq_s32_s8(vqtbl1q_s8(vreinterpretq_s8_s16(rows), vld1q_u8(lanes_of_rows[unit])));
  });
}
// Steps between the scales of groups, two groups of eight rows in each register. What is before the first one meets
// sums of nothing.
template <int count>
HWY_INLINE void store_steps(const int8x16_t (&scales)[count], int32x4_t (&to)[2 * count + 1][tile_units]) {
  int8x16_t before = vdupq_n_s8(0);
  unrolled<count>(INGOT_UNROLLED(i) {
    const int8x16_t shifted = vextq_s8(before, scales[i], 8);
    spread_integers(vsubl_s8(vget_low_s8(shifted), vget_low_s8(scales[i])), to[2 * i]);
    spread_integers(vsubl_high_s8(shifted, scales[i]), to[2 * i + 1]);
    before = scales[i];
  });
  spread_integers(vmovl_high_s8(before), to[2 * count]);
}

HWY_INLINE void unpack_blocks(const InterleavedBlocks<BlockQ4_K>& from, TileBlock<BlockQ4_K>& to) {
  for (int i = 0; i < 4; ++i) {
    unrolled<4>(INGOT_UNROLLED(eight) {
      const Octets& codes = from.codes[4 * i + eight];
      const EightCodes bytes = {vld1q_u8(codes[0]), vld1q_u8(codes[2]), vld1q_u8(codes[4]), vld1q_u8(codes[6])};
      store_eight(
          bytes, to.codes[2 * i].eights[eight], INGOT_UNROLLED(unit) { return vandq_u8(unit, vdupq_n_u8(15)); });
      store_eight(bytes, to.codes[2 * i + 1].eights[eight], INGOT_UNROLLED(unit) { return vshrq_n_u8(unit, 4); });
    });
  }
  const auto sixes = [](const std::uint8_t(&bytes)[3][16], uint8x16_t(&numbers)[4]) __attribute__((always_inline)) {
    unpack_sixes({vld1q_u8(bytes[0]), vld1q_u8(bytes[1]), vld1q_u8(bytes[2])}, numbers);
  };
  uint8x16_t scales[4], minimums[4];
  sixes(from.group_scales, scales);
  store_steps<4>({vreinterpretq_s8_u8(scales[0]), vreinterpretq_s8_u8(scales[1]), vreinterpretq_s8_u8(scales[2]),
                  vreinterpretq_s8_u8(scales[3])},
                 to.steps);
  sixes(from.group_minimums, minimums);
  EightCodes of_units;
  zip_quads({minimums[0], minimums[1]}, {minimums[2], minimums[3]}, of_units);
  store_eight(of_units, to.minimums[0], INGOT_UNROLLED(unit) { return unit; });
  spread_halves(from.scales, 1, to.scales);
  spread_halves(from.minimums, 1, to.minimum_scales);
  multiply_units(to.minimum_scales, float_start, to.minimum_starts);
}

HWY_INLINE void unpack_blocks(const InterleavedBlocks<BlockQ6_K>& from, TileBlock<BlockQ6_K>& to) {
  for (int g = 0; g < 16; ++g) {
    uint8x16_t quads[2][4];
    unrolled<2>(INGOT_UNROLLED(half) {
      const auto& bytes = from.codes[g];
      unpack_sixes({vld1q_u8(bytes[0][4 * half]), vld1q_u8(bytes[1][4 * half]), vld1q_u8(bytes[2][4 * half])},
                   quads[half]);
    });
    unrolled<2>(INGOT_UNROLLED(two) {
      EightCodes codes;
      zip_quads({quads[0][2 * two], quads[1][2 * two]}, {quads[0][2 * two + 1], quads[1][2 * two + 1]}, codes);
      store_eight(
          codes, to.codes[g / 2].eights[g % 2 * 2 + two],
          INGOT_UNROLLED(unit) { return vsubq_u8(unit, vdupq_n_u8(32)); });
    });
  }
  int8x16_t scales[8];
  unrolled<8>(INGOT_UNROLLED(i) { scales[i] = vld1q_s8(from.group_scales[2 * i]); });
  store_steps<8>(scales, to.steps);
  spread_halves(from.scales, 1, to.scales);
}

template <class Block>
constexpr bool has_braid_tiles =
    requires(const InterleavedBlocks<Block>& blocks, TileBlock<Block>& to) { unpack_blocks(blocks, to); };

// Blocks of eight rows. What comes next is asked for early: memory is slower than unpacking.
template <class Block>
void unpack_braid(const InterleavedBlocks<Block>* from, std::int64_t blocks, TileBlock<Block>* to) {
  constexpr int line = 64, ahead = 2048;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const auto* bytes = reinterpret_cast<const std::byte*>(from + b);
    unrolled<static_cast<int>((sizeof(*from) + line - 1) / line)>(
        INGOT_UNROLLED(i) { __builtin_prefetch(bytes + ahead + line * i); });
    unpack_blocks(from[b], to[b]);
  }
}
