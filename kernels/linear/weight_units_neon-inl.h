// Sixteen rows of weights as units (code_panels_neon-inl.h): codes unpacked in registers and stored in the order in
// which an instruction reads them, scales spread over the lanes of their products. Part of a source, after
// blocks_256_neon-inl.h.

// Rows of blocks that do not lie one after the other are gathered here.
template <class Block>
struct NeonRows {
  Block blocks[panel_rows][panel_depth / Block::elements];
};

// Sums of 32 products begin at the bits of 1.5 * 2^23: being below 2^22, they make floats of themselves. What is left
// of the conversion is one product with their scale, start and all, from which that of the start is taken away: exact,
// since scales have 11 bits, and no instruction of its own.
constexpr float float_start = 0x1.8p23f;
constexpr std::int32_t float_start_bits = 0x4b400000;

template <class Instruction>
struct NeonWeightUnits {
  static constexpr int rows = Instruction::weight_rows;
  static constexpr int units = panel_rows / rows;
  static constexpr int unit_bytes = panel_depth * rows + 64;  // not all in one set of the cache
  static constexpr int minimum_bytes = panel_depth / code_group * rows;

  alignas(64) std::int8_t codes[units][unit_bytes];
  float32x4_t scales[units][panel_depth / 32];
  float32x4_t less_starts[units][panel_depth / 32];  // of formats of 32: -start * scale
  float32x4_t bases[units][panel_depth / 32];
  int32x4_t group_scales[units][panel_depth / code_group];
  // Of formats of 256: the integers of the groups, their scale, and start * scale.
  std::int8_t minimums[units][minimum_bytes];
  float32x4_t minimum_scales[units][panel_depth / 256];
  float32x4_t minimum_starts[units][panel_depth / 256];

  template <class Block>
  void unpack(const Block* const (&from)[panel_rows], std::int64_t blocks) {
    for (int unit = 0; unit < units; ++unit) {
      const Block* of_unit[rows];
      for (int row = 0; row < rows; ++row) of_unit[row] = from[unit * rows + row];
      if constexpr (Block::elements == 32) {
        unpack_32(of_unit, blocks, unit);
      } else {
        for (std::int64_t b = 0; b < blocks; ++b) unpack_256(of_unit, b, unit);
      }
    }
  }

 private:
  template <class Block>
  void unpack_32(const Block* const (&from)[rows], std::int64_t blocks, int unit) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      int8x16_t first[rows], second[rows];
      unrolled<rows>(INGOT_UNROLLED(row) {
        const CodeHalves stored = load_codes(from[row][b]);
        const int8x16_t offset = vdupq_n_s8(code_offset<Block>);
        first[row] = vsubq_s8(stored.first, offset);
        second[row] = vsubq_s8(stored.second, offset);
      });
      Instruction::order(first, codes[unit] + 32 * b * rows);
      Instruction::order(second, codes[unit] + (32 * b + 16) * rows);
    }
    for (std::int64_t b = 0; b < blocks; b += 4) {
      float32x4_t of_rows[rows], bases_of_rows[rows];
      for (int row = 0; row < rows; ++row) {
        const FourScales four = load_scales(FourBlocks<Block, false>{from[row] + b, blocks - b});
        of_rows[row] = four.scales;
        bases_of_rows[row] = four.bases;
      }
      Instruction::spread(of_rows, scales[unit] + b);
      for (int i = 0; i < 4; ++i) less_starts[unit][b + i] = vmulq_n_f32(scales[unit][b + i], -float_start);
      if constexpr (has_base<Block>) Instruction::spread(bases_of_rows, bases[unit] + b);
    }
  }

  template <class Block>
  void unpack_256(const Block* const (&from)[rows], std::int64_t b, int unit) {
    unrolled<16>(INGOT_UNROLLED(place) {
      int8x16_t sixteen[rows];
      unrolled<rows>(INGOT_UNROLLED(row) {
        sixteen[row] = vsubq_s8(vreinterpretq_s8_u8(codes_at<place>(from[row][b])), vdupq_n_s8(code_offset<Block>));
      });
      Instruction::order(sixteen, codes[unit] + (256 * b + 16 * CodedOrder<Block>::units[place]) * rows);
    });
    constexpr int groups = 256 / Block::group;
    GroupWords words[rows];
    float32x4_t block_scales[rows], minimum_scales_of_rows[rows];
    int8x16_t group_minimums[rows];
    for (int row = 0; row < rows; ++row) {
      words[row] = load_groups(from[row][b]);
      block_scales[row] = vdupq_n_f32(half_value(from[row][b].scale));
      if constexpr (has_base<Block>) {
        minimum_scales_of_rows[row] = vdupq_n_f32(half_value(from[row][b].minimum));
        group_minimums[row] = vcombine_s8(vmovn_s16(words[row].minimums[0]), vmovn_s16(words[row].minimums[1]));
      }
    }
    for (int g = 0; g < groups; g += 4) {
      int32x4_t of_rows[rows];
      for (int row = 0; row < rows; ++row) {
        const int16x8_t eight = words[row].scales[g / 8];
        of_rows[row] = g % 8 == 0 ? vmovl_s16(vget_low_s16(eight)) : vmovl_high_s16(eight);
      }
      Instruction::spread(of_rows, group_scales[unit] + b * groups + g);
    }
    float32x4_t spread[4];  // all alike
    Instruction::spread(block_scales, spread);
    scales[unit][b] = spread[0];
    if constexpr (has_base<Block>) {
      Instruction::order(group_minimums, minimums[unit] + 16 * b * rows);
      Instruction::spread(minimum_scales_of_rows, spread);
      minimum_scales[unit][b] = spread[0];
      minimum_starts[unit][b] = vmulq_n_f32(spread[0], float_start);
    }
  }
};
