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

// Where a product keeps units:
//
//   struct Places {
//     static constexpr int eight_bytes;                        from eight codes of a unit's rows to the next eight
//     std::int8_t* codes(int unit, std::int64_t sixteen);
//     float32x4_t& scales(int unit, std::int64_t block), less_starts (-start * scale), bases
//     formats of 256:
//     int32x4_t& group_scales(int unit, std::int64_t block, int group);
//     std::int8_t* minimums(int unit, std::int64_t block);     the integers of the groups
//     float32x4_t& minimum_scales(int unit, std::int64_t block), minimum_starts (start * scale)
//   };
template <class Instruction, class Places>
class NeonWeightUnits {
  static constexpr int rows = Instruction::weight_rows;

 public:
  template <class Block>
  static void unpack(const Block* const (&from)[panel_rows], std::int64_t blocks, Places& to) {
    for (int unit = 0; unit < panel_rows / rows; ++unit) {
      const Block* of_unit[rows];
      for (int row = 0; row < rows; ++row) of_unit[row] = from[unit * rows + row];
      if constexpr (Block::elements == 32) {
        unpack_32(of_unit, blocks, unit, to);
      } else {
        for (std::int64_t b = 0; b < blocks; ++b) unpack_256(of_unit, b, unit, to);
      }
    }
  }

 private:
  template <class Block>
  static void unpack_32(const Block* const (&from)[rows], std::int64_t blocks, int unit, Places& to) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      int8x16_t first[rows], second[rows];
      unrolled<rows>(INGOT_UNROLLED(row) {
        const Codes32 stored = load_codes(from[row][b]);
        const int8x16_t offset = vdupq_n_s8(code_offset<Block>);
        first[row] = vsubq_s8(stored.first, offset);
        second[row] = vsubq_s8(stored.second, offset);
      });
      Instruction::order(first, to.codes(unit, 2 * b), Places::eight_bytes);
      Instruction::order(second, to.codes(unit, 2 * b + 1), Places::eight_bytes);
    }
    for (std::int64_t b = 0; b < blocks; b += 4) {
      float32x4_t of_rows[rows], bases_of_rows[rows], spread[4], spread_bases[4];
      for (int row = 0; row < rows; ++row) {
        const FourScales four = load_scales(FourBlocks<Block, false>{from[row] + b, blocks - b});
        of_rows[row] = four.scales;
        bases_of_rows[row] = four.bases;
      }
      Instruction::spread(of_rows, spread);
      if constexpr (has_base<Block>) Instruction::spread(bases_of_rows, spread_bases);
      for (int i = 0; i < std::min<std::int64_t>(4, blocks - b); ++i) {
        to.scales(unit, b + i) = spread[i];
        to.less_starts(unit, b + i) = vmulq_n_f32(spread[i], -float_start);
        if constexpr (has_base<Block>) to.bases(unit, b + i) = spread_bases[i];
      }
    }
  }

  template <class Block>
  static void unpack_256(const Block* const (&from)[rows], std::int64_t b, int unit, Places& to) {
    unrolled<16>(INGOT_UNROLLED(place) {
      int8x16_t sixteen[rows];
      unrolled<rows>(INGOT_UNROLLED(row) {
        sixteen[row] = vsubq_s8(vreinterpretq_s8_u8(codes_at<place>(from[row][b])), vdupq_n_s8(code_offset<Block>));
      });
      Instruction::order(sixteen, to.codes(unit, 16 * b + CodedOrder<Block>::sixteens[place]), Places::eight_bytes);
    });
    constexpr int groups = 256 / Block::group;
    GroupWords words[rows];
    float32x4_t block_scales[rows], minimum_scales[rows];
    int8x16_t group_minimums[rows];
    for (int row = 0; row < rows; ++row) {
      words[row] = load_groups(from[row][b]);
      block_scales[row] = vdupq_n_f32(half_value(from[row][b].scale));
      if constexpr (has_base<Block>) {
        minimum_scales[row] = vdupq_n_f32(half_value(from[row][b].minimum));
        group_minimums[row] = vcombine_s8(vmovn_s16(words[row].minimums[0]), vmovn_s16(words[row].minimums[1]));
      }
    }
    for (int g = 0; g < groups; g += 4) {
      int32x4_t of_rows[rows], four[4];
      for (int row = 0; row < rows; ++row) {
        const int16x8_t eight = words[row].scales[g / 8];
        of_rows[row] = g % 8 == 0 ? vmovl_s16(vget_low_s16(eight)) : vmovl_high_s16(eight);
      }
      Instruction::spread(of_rows, four);
      for (int i = 0; i < 4; ++i) to.group_scales(unit, b, g + i) = four[i];
    }
    float32x4_t spread[4];  // all alike
    Instruction::spread(block_scales, spread);
    to.scales(unit, b) = spread[0];
    if constexpr (has_base<Block>) {
      Instruction::order(group_minimums, to.minimums(unit, b), Places::eight_bytes);
      Instruction::spread(minimum_scales, spread);
      to.minimum_scales(unit, b) = spread[0];
      to.minimum_starts(unit, b) = vmulq_n_f32(spread[0], float_start);
    }
  }
};
