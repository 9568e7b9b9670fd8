// Tiles of eight rows of weights by six of x, by SMMLA: four units of two rows by three. Part of a source, after
// multiply_neon_i8mm-inl.h and weight_units_neon-inl.h.
//
// What counts on a Neoverse-V1 is how many vector registers are written: six a cycle are renamed, loads and all, where
// four SMMLA may start. A tile of 4 x 3 units has its twelve sums of integers and its twelve of floats in registers
// and writes the fewest: 131 a block of 32 (48 of them SMMLA), 92 where scales are integers. SMMLA starts twice as
// often when one operand comes fresh from a load, so each register of weights is loaded right before its use. A
// compiler keeps neither that order nor the sums in their registers, so the loops are assembly:
//
//   v0 to v11   sums of integers    v12 to v23  totals    v24 to v26  x    v27 to v30  weights, scales
constexpr int tile_units = 4, tile_x_units = 3;
constexpr int tile_columns = 2 * tile_units, tile_rows = 2 * tile_x_units;
constexpr int tile_products = tile_units * tile_x_units;
using TileSums = float[tile_products][4];  // [unit of weights][unit of x], lanes as in their products

// 32 of the depth: what belongs to a row stands in the lanes of its products.
struct TileCodes {
  std::int8_t eights[4][tile_units][16];
};
struct TileXCodes {
  std::int8_t eights[4][tile_x_units][16];
};

// What only some formats have.
template <bool present, class Values>
struct Optional {
  Values values;
};
template <class Values>
struct Optional<false, Values> {};

template <class Block>
struct TileBlock {  // of weights
  TileCodes codes;
  float32x4_t scales[tile_units];
  float32x4_t less_starts[tile_units];  // -start * scale
  [[no_unique_address]] Optional<has_base<Block>, float32x4_t[tile_units]> bases;
};
template <class Block>
struct TileXBlock {
  TileXCodes codes;
  float32x4_t scales[tile_x_units];
  [[no_unique_address]] Optional<has_base<Block>, float32x4_t[tile_x_units]> scaled_sums;
};

// Sums of a block of 256 run on from group to group, P_g = S_0 + .. + S_g, and start once:
//
//   sum_g S_g c_g = sum_g P_{g-1} (c_{g-1} - c_g) + P_last c_last
template <class Block>
  requires(Block::elements == 256)
struct TileBlock<Block> {
  TileCodes codes[8];
  float32x4_t scales[tile_units];
  float32x4_t minimum_scales[tile_units];
  float32x4_t minimum_starts[tile_units];               // start * scale
  std::int8_t minimums[2][tile_units][16];              // of the first eight groups, of the others
  int32x4_t steps[256 / Block::group + 1][tile_units];  // c_{g-1} - c_g, the first of them zero; at last c_last
};
template <class Block>
  requires(Block::elements == 256)
struct TileXBlock<Block> {
  TileXCodes codes[8];
  float32x4_t scales[tile_x_units];
  // Sums of groups are 64 * upper + lower, bytes both, and multiplied as codes are: [upper, lower][eight groups].
  [[no_unique_address]] Optional<has_base<Block>, std::int8_t[2][2][tile_x_units][16]> group_sums;
};

// clang-format off
#define INGOT_TILE_X(first, third) \
  "ldp q24, q25, [%[x], #" #first "]\n ldr q26, [%[x], #" #third "]\n"
// The second-level cache takes its time: ask for x a few steps ahead.
#define INGOT_TILE_AHEAD(at) "prfm pldl1keep, [%[x], #" #at "]\n"
#define INGOT_TILE_UNIT(at, a, b, c) \
  "ldr q27, [%[weights], #" #at "]\n" \
  "smmla v" #a ".4s, v27.16b, v24.16b\n" \
  "smmla v" #b ".4s, v27.16b, v25.16b\n" \
  "smmla v" #c ".4s, v27.16b, v26.16b\n"
#define INGOT_TILE_EIGHT(first, third, w0, w1, w2, w3) \
  INGOT_TILE_X(first, third) \
  INGOT_TILE_UNIT(w0, 0, 1, 2) INGOT_TILE_UNIT(w1, 3, 4, 5) \
  INGOT_TILE_UNIT(w2, 6, 7, 8) INGOT_TILE_UNIT(w3, 9, 10, 11)
// Totals of floats: += (sum * scale - start * scale) * scale of x.
#define INGOT_TILE_SCALE(scale, start, a, b, c, total_a, total_b, total_c) \
  "ldr q27, [%[weights], #" #scale "]\n" \
  "ldr q28, [%[weights], #" #start "]\n fmla v28.4s, v" #a ".4s, v27.4s\n" \
  "ldr q29, [%[weights], #" #start "]\n fmla v29.4s, v" #b ".4s, v27.4s\n" \
  "ldr q30, [%[weights], #" #start "]\n fmla v30.4s, v" #c ".4s, v27.4s\n" \
  "fmla v" #total_a ".4s, v28.4s, v24.4s\n" \
  "fmla v" #total_b ".4s, v29.4s, v25.4s\n" \
  "fmla v" #total_c ".4s, v30.4s, v26.4s\n"
// Totals of integers: += the sum so far * step, before the sum goes on.
#define INGOT_TILE_STEP_UNIT(at, step, a, b, c, total_a, total_b, total_c) \
  "ldr q28, [%[steps], #" #step "]\n ldr q27, [%[weights], #" #at "]\n" \
  "mla v" #total_a ".4s, v" #a ".4s, v28.4s\n smmla v" #a ".4s, v27.16b, v24.16b\n" \
  "mla v" #total_b ".4s, v" #b ".4s, v28.4s\n smmla v" #b ".4s, v27.16b, v25.16b\n" \
  "mla v" #total_c ".4s, v" #c ".4s, v28.4s\n smmla v" #c ".4s, v27.16b, v26.16b\n"
#define INGOT_TILE_STEP_EIGHT(first, third, w0, w1, w2, w3, s0, s1, s2, s3) \
  INGOT_TILE_X(first, third) \
  INGOT_TILE_STEP_UNIT(w0, s0, 0, 1, 2, 12, 13, 14) INGOT_TILE_STEP_UNIT(w1, s1, 3, 4, 5, 15, 16, 17) \
  INGOT_TILE_STEP_UNIT(w2, s2, 6, 7, 8, 18, 19, 20) INGOT_TILE_STEP_UNIT(w3, s3, 9, 10, 11, 21, 22, 23)
#define INGOT_TILE_LAST(step, a, b, c, total_a, total_b, total_c) \
  "ldr q28, [%[steps], #" #step "]\n" \
  "mla v" #total_a ".4s, v" #a ".4s, v28.4s\n" \
  "mla v" #total_b ".4s, v" #b ".4s, v28.4s\n" \
  "mla v" #total_c ".4s, v" #c ".4s, v28.4s\n"
// Floats of totals of integers, with the scales of a block, into v28 to v30: what minimums take away, plus the sum.
#define INGOT_TILE_FLOATS(scale, total_a, total_b, total_c) \
  "ldr q27, [%[weights], #" #scale "]\n" \
  "scvtf v" #total_a ".4s, v" #total_a ".4s\n fmul v28.4s, v" #total_a ".4s, v27.4s\n" \
  "scvtf v" #total_b ".4s, v" #total_b ".4s\n fmul v29.4s, v" #total_b ".4s, v27.4s\n" \
  "scvtf v" #total_c ".4s, v" #total_c ".4s\n fmul v30.4s, v" #total_c ".4s, v27.4s\n"
#define INGOT_TILE_FLOATS_LESS(scale, minimum, start, a, b, c, total_a, total_b, total_c) \
  "ldr q31, [%[weights], #" #scale "]\n ldr q27, [%[weights], #" #minimum "]\n" \
  "ldr q28, [%[weights], #" #start "]\n fmls v28.4s, v" #a ".4s, v27.4s\n scvtf v" #total_a ".4s, v" #total_a ".4s\n" \
  "ldr q29, [%[weights], #" #start "]\n fmls v29.4s, v" #b ".4s, v27.4s\n scvtf v" #total_b ".4s, v" #total_b ".4s\n" \
  "ldr q30, [%[weights], #" #start "]\n fmls v30.4s, v" #c ".4s, v27.4s\n scvtf v" #total_c ".4s, v" #total_c ".4s\n" \
  "fmla v28.4s, v" #total_a ".4s, v31.4s\n" \
  "fmla v29.4s, v" #total_b ".4s, v31.4s\n" \
  "fmla v30.4s, v" #total_c ".4s, v31.4s\n"
#define INGOT_TILE_ADD(first, second, third, a, b, c) \
  "ldr q" #a ", [%[sums], #" #first "]\n fmla v" #a ".4s, v28.4s, v24.4s\n str q" #a ", [%[sums], #" #first "]\n" \
  "ldr q" #b ", [%[sums], #" #second "]\n fmla v" #b ".4s, v29.4s, v25.4s\n str q" #b ", [%[sums], #" #second "]\n" \
  "ldr q" #c ", [%[sums], #" #third "]\n fmla v" #c ".4s, v30.4s, v26.4s\n str q" #c ", [%[sums], #" #third "]\n"
#define INGOT_TILE_64_TIMES(a, b, c) \
  "shl v" #a ".4s, v" #a ".4s, #6\n shl v" #b ".4s, v" #b ".4s, #6\n shl v" #c ".4s, v" #c ".4s, #6\n"
#define INGOT_TILE_STARTS \
  "ldp q0, q1, [%[start]]\n ldp q2, q3, [%[start]]\n ldp q4, q5, [%[start]]\n" \
  "ldp q6, q7, [%[start]]\n ldp q8, q9, [%[start]]\n ldp q10, q11, [%[start]]\n"
#define INGOT_TILE_TOTALS(operation) \
  operation " q12, q13, [%[sums]]\n" operation " q14, q15, [%[sums], #32]\n" \
  operation " q16, q17, [%[sums], #64]\n" operation " q18, q19, [%[sums], #96]\n" \
  operation " q20, q21, [%[sums], #128]\n" operation " q22, q23, [%[sums], #160]\n"
#define INGOT_TILE_CLEAR(a, b, c, d) \
  "movi v" #a ".2d, #0\n movi v" #b ".2d, #0\n movi v" #c ".2d, #0\n movi v" #d ".2d, #0\n"
#define INGOT_TILE_REGISTERS \
  "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
      "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", \
      "v30", "v31"
// clang-format on

// Blocks of 32, added to sums.
template <class Block>
void add_scaled_tile(const TileBlock<Block>* weights, const TileXBlock<Block>* x, std::int64_t blocks, TileSums& sums) {
  static_assert(sizeof(TileCodes) == 256 && sizeof(weights->scales) == 64 && sizeof(TileXCodes) == 192);
  alignas(32) static constexpr float start[8] = {float_start, float_start, float_start, float_start,
                                                 float_start, float_start, float_start, float_start};
  // clang-format off
  __asm__ volatile(INGOT_TILE_TOTALS("ldp")
      "1:\n"
      INGOT_TILE_STARTS
      INGOT_TILE_AHEAD(960) INGOT_TILE_EIGHT(0, 32, 0, 16, 32, 48)
      INGOT_TILE_AHEAD(1024) INGOT_TILE_EIGHT(48, 80, 64, 80, 96, 112)
      INGOT_TILE_AHEAD(1088) INGOT_TILE_EIGHT(96, 128, 128, 144, 160, 176)
      INGOT_TILE_AHEAD(1152) INGOT_TILE_EIGHT(144, 176, 192, 208, 224, 240)
      INGOT_TILE_X(192, 224)
      INGOT_TILE_SCALE(256, 320, 0, 1, 2, 12, 13, 14)
      INGOT_TILE_SCALE(272, 336, 3, 4, 5, 15, 16, 17)
      INGOT_TILE_SCALE(288, 352, 6, 7, 8, 18, 19, 20)
      INGOT_TILE_SCALE(304, 368, 9, 10, 11, 21, 22, 23)
      "add %[weights], %[weights], %[weight_bytes]\n add %[x], %[x], %[x_bytes]\n"
      "subs %[blocks], %[blocks], #1\n b.ne 1b\n"
      INGOT_TILE_TOTALS("stp")
      : [weights] "+&r"(weights), [x] "+&r"(x), [blocks] "+&r"(blocks)
      : [sums] "r"(&sums), [start] "r"(start), [weight_bytes] "i"(sizeof(*weights)), [x_bytes] "i"(sizeof(*x))
      : INGOT_TILE_REGISTERS);
  // clang-format on
}

enum class Scales { usual, wide };

// The same where start * scale may leave the range of floats.
template <class Block>
void add_wide_tile(const TileBlock<Block>* weights, const TileXBlock<Block>* x, std::int64_t blocks, TileSums& sums) {
  for (std::int64_t b = 0; b < blocks; ++b, ++weights, ++x) {
    unrolled<tile_products>(INGOT_UNROLLED(n) {
      constexpr int i = n / tile_x_units, j = n % tile_x_units;
      int32x4_t product = vdupq_n_s32(0);
      unrolled<4>(INGOT_UNROLLED(k) {
        product = vmmlaq_s32(product, vld1q_s8(weights->codes.eights[k][i]), vld1q_s8(x->codes.eights[k][j]));
      });
      const float32x4_t scaled = vmulq_f32(vcvtq_f32_s32(product), weights->scales[i]);
      vst1q_f32(sums[n], vfmaq_f32(vld1q_f32(sums[n]), scaled, x->scales[j]));
    });
  }
}
template <class Block>
void add_bases(const TileBlock<Block>* weights, const TileXBlock<Block>* x, std::int64_t blocks, TileSums& sums) {
  float32x4_t totals[tile_products];
  unrolled<tile_products>(INGOT_UNROLLED(n) { totals[n] = vld1q_f32(sums[n]); });
  for (std::int64_t b = 0; b < blocks; ++b, ++weights, ++x) {
    unrolled<tile_products>(INGOT_UNROLLED(n) {
      constexpr int i = n / tile_x_units, j = n % tile_x_units;
      totals[n] = vfmaq_f32(totals[n], weights->bases.values[i], x->scaled_sums.values[j]);
    });
  }
  unrolled<tile_products>(INGOT_UNROLLED(n) { vst1q_f32(sums[n], totals[n]); });
}

// A block of 256, added to sums. Past the codes lies what makes floats of their sums:
//
//   of weights   scales at 0, minimum_scales at 64, minimum_starts at 128, minimums at 192 and 256
//   of x         scales at 0, sums of groups at 48 and 96 (upper), 144 and 192 (lower)
//
// Minimums take away scale * sum_g minimum[g] * (64 * upper[g] + lower[g]): sums below 2^22, and so floats by their
// start, which stands 64 times smaller at first.
template <class Block>
HWY_INLINE void add_block_256(const TileBlock<Block>& block, const TileXBlock<Block>& x_block, TileSums& sums) {
  static_assert(sizeof(block.codes) == 2048 && sizeof(block.scales) == 64 && sizeof(x_block.scales) == 48);
  alignas(32) static constexpr std::int32_t start[8] = {
      float_start_bits >> 6, float_start_bits >> 6, float_start_bits >> 6, float_start_bits >> 6,
      float_start_bits >> 6, float_start_bits >> 6, float_start_bits >> 6, float_start_bits >> 6};
  const auto* weights = &block;
  const auto* x = &x_block;
  const auto* steps = &block.steps[0];
  std::int64_t count = 8;
  // clang-format off
#define INGOT_TILE_256(third_eight, step_bytes, floats) \
  __asm__ volatile(INGOT_TILE_CLEAR(0, 1, 2, 3) INGOT_TILE_CLEAR(4, 5, 6, 7) INGOT_TILE_CLEAR(8, 9, 10, 11) \
      INGOT_TILE_CLEAR(12, 13, 14, 15) INGOT_TILE_CLEAR(16, 17, 18, 19) INGOT_TILE_CLEAR(20, 21, 22, 23) \
      "1:\n" \
      INGOT_TILE_AHEAD(768) INGOT_TILE_STEP_EIGHT(0, 32, 0, 16, 32, 48, 0, 16, 32, 48) \
      INGOT_TILE_AHEAD(832) INGOT_TILE_EIGHT(48, 80, 64, 80, 96, 112) \
      INGOT_TILE_AHEAD(896) third_eight \
      INGOT_TILE_EIGHT(144, 176, 192, 208, 224, 240) \
      "add %[weights], %[weights], #256\n add %[x], %[x], #192\n add %[steps], %[steps], #" #step_bytes "\n" \
      "subs %[count], %[count], #1\n b.ne 1b\n" \
      INGOT_TILE_LAST(0, 0, 1, 2, 12, 13, 14) INGOT_TILE_LAST(16, 3, 4, 5, 15, 16, 17) \
      INGOT_TILE_LAST(32, 6, 7, 8, 18, 19, 20) INGOT_TILE_LAST(48, 9, 10, 11, 21, 22, 23) \
      floats \
      : [weights] "+&r"(weights), [x] "+&r"(x), [steps] "+&r"(steps), [count] "+&r"(count) \
      : [sums] "r"(&sums), [start] "r"(start) \
      : INGOT_TILE_REGISTERS)
#define INGOT_TILE_PLAIN \
  INGOT_TILE_X(0, 32) \
  INGOT_TILE_FLOATS(0, 12, 13, 14) INGOT_TILE_ADD(0, 16, 32, 0, 1, 2) \
  INGOT_TILE_FLOATS(16, 15, 16, 17) INGOT_TILE_ADD(48, 64, 80, 3, 4, 5) \
  INGOT_TILE_FLOATS(32, 18, 19, 20) INGOT_TILE_ADD(96, 112, 128, 6, 7, 8) \
  INGOT_TILE_FLOATS(48, 21, 22, 23) INGOT_TILE_ADD(144, 160, 176, 9, 10, 11)
#define INGOT_TILE_WITH_MINIMUMS(second_upper, second_lower) \
  INGOT_TILE_STARTS INGOT_TILE_EIGHT(48, 80, 192, 208, 224, 240) second_upper \
  INGOT_TILE_64_TIMES(0, 1, 2) INGOT_TILE_64_TIMES(3, 4, 5) \
  INGOT_TILE_64_TIMES(6, 7, 8) INGOT_TILE_64_TIMES(9, 10, 11) \
  INGOT_TILE_EIGHT(144, 176, 192, 208, 224, 240) second_lower \
  INGOT_TILE_X(0, 32) \
  INGOT_TILE_FLOATS_LESS(0, 64, 128, 0, 1, 2, 12, 13, 14) INGOT_TILE_ADD(0, 16, 32, 0, 1, 2) \
  INGOT_TILE_FLOATS_LESS(16, 80, 144, 3, 4, 5, 15, 16, 17) INGOT_TILE_ADD(48, 64, 80, 3, 4, 5) \
  INGOT_TILE_FLOATS_LESS(32, 96, 160, 6, 7, 8, 18, 19, 20) INGOT_TILE_ADD(96, 112, 128, 6, 7, 8) \
  INGOT_TILE_FLOATS_LESS(48, 112, 176, 9, 10, 11, 21, 22, 23) INGOT_TILE_ADD(144, 160, 176, 9, 10, 11)
#define INGOT_TILE_GROUPS_16 INGOT_TILE_STEP_EIGHT(96, 128, 128, 144, 160, 176, 64, 80, 96, 112)
  if constexpr (Block::group == 32 && has_base<Block>) {
    INGOT_TILE_256(INGOT_TILE_EIGHT(96, 128, 128, 144, 160, 176), 64, INGOT_TILE_WITH_MINIMUMS(,));
  } else if constexpr (has_base<Block>) {
    INGOT_TILE_256(INGOT_TILE_GROUPS_16, 128,
                   INGOT_TILE_WITH_MINIMUMS(INGOT_TILE_EIGHT(96, 128, 256, 272, 288, 304),
                                            INGOT_TILE_EIGHT(192, 224, 256, 272, 288, 304)));
  } else if constexpr (Block::group == 32) {
    INGOT_TILE_256(INGOT_TILE_EIGHT(96, 128, 128, 144, 160, 176), 64, INGOT_TILE_PLAIN);
  } else {
    INGOT_TILE_256(INGOT_TILE_GROUPS_16, 128, INGOT_TILE_PLAIN);
  }
#undef INGOT_TILE_256
#undef INGOT_TILE_PLAIN
#undef INGOT_TILE_WITH_MINIMUMS
#undef INGOT_TILE_GROUPS_16
  // clang-format on
}

// Blocks of a tile, added to sums. Scales of both sides one after the other: their product may lie below the normal
// range where the sum does not.
template <class Block>
void add_tile(const TileBlock<Block>* weights, Scales kind, const TileXBlock<Block>* x, std::int64_t blocks,
              TileSums& sums) {
  if constexpr (std::is_same_v<Block, BlockMXFP4>) {
    if (kind == Scales::wide) return add_wide_tile<Block>(weights, x, blocks, sums);
  }
  if constexpr (Block::elements == 32) {
    add_scaled_tile<Block>(weights, x, blocks, sums);
    if constexpr (has_base<Block>) add_bases<Block>(weights, x, blocks, sums);
  } else {
    for (std::int64_t b = 0; b < blocks; ++b) add_block_256<Block>(weights[b], x[b], sums);
  }
}
