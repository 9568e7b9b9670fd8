// Two to eight rows of x, in pairs, for interleaved weights in blocks of 32 and SMMLA
// (matmul_interleaved_neon_i8mm.cc): two rows of weights times two rows of x, eight codes each, into four 32-bit lanes
//
//   w0 x0   w0 x1   w1 x0   w1 x1
//
// and the steps that the loops in q4_0_pairs_neon-inl.h and q8_0_pairs_neon-inl.h are made of. Part of a source, inside
// its target attributes and an unnamed namespace of its own.
//
// Integers start from the bits of 1.5 * 2^23, where steps of one are bits of one: they stay below 2^20, so that their
// bits are a float. It is multiplied with the scale of x as it is, start and all, and what the start makes of it is
// taken away in the same instruction: exact, because scales of x are rounded to 22 bits first, one more rounding of a
// float. For that product to stay in range a row's scales are multiplied with a power of two, which brings their
// largest to 1 or more and below 2, and its sums in the end with the inverse.

// What belongs to a row of x stands in the lanes of its products.
template <int pairs>
struct PairsBlock {
  std::int8_t codes[4][pairs][2][8];  // [eight][pair][row]
  std::int32_t starts[pairs][4];      // of the integers, less what codes that stand for lower numbers are too much
  float less_starts[pairs][4];        // what the start makes of it, negative
  float scales[pairs][4];
};

// Rows 2 i and 2 i + 1 of a braid of weights, times a pair of rows of x.
template <int pairs>
using PairTotals = float[interleaved_rows / 2][pairs][4];

// What is prepared: `unscale` of each row, then blocks; the one before the first, all zeros, is what a loop's first
// pass finishes.
template <int pairs>
struct PairsOfX {
  float unscale[16];  // of 2 * pairs rows; what follows begins a line of the cache
  PairsBlock<pairs> before;

  PairsBlock<pairs>* blocks() { return &before + 1; }
  const PairsBlock<pairs>* blocks() const { return &before + 1; }
};

constexpr float float_start = 0x1.8p23f;

// Scales of two rows by `up`, in two factors because one may be out of range; to 22 bits, NaN as it is.
HWY_INLINE float32x4_t rounded_scales(float32x4_t scales, const float32x4_t (&up)[2]) {
  const float32x4_t whole = vmulq_f32(vmulq_f32(scales, up[0]), up[1]);
  const uint32x4_t bits = vreinterpretq_u32_f32(whole);
  const uint32x4_t rounded = vandq_u32(vaddq_u32(bits, vdupq_n_u32(2)), vdupq_n_u32(~3u));
  return vbslq_f32(vceqq_f32(whole, whole), vreinterpretq_f32_u32(rounded), whole);
}

// Codes, starts and scales of one row's blocks `begin` to `end`, the last as they are.
template <int pairs>
void place_row(const BlockReader& from, std::int64_t begin, std::int64_t end, std::int64_t row, int offset,
               PairsBlock<pairs>* to) {
  for (std::int64_t b = begin; b < end; ++b) {
    alignas(16) std::int8_t codes[32];
    std::int32_t sums[2];
    const float scale = from.read(32 * b, 32, codes, sums);
    for (int eight = 0; eight < 4; ++eight) {
      std::memcpy(to[b].codes[eight][row / 2][row % 2], codes + 8 * eight, 8);
    }
    const std::int32_t start = std::bit_cast<std::int32_t>(float_start) - offset * (sums[0] + sums[1]);
    to[b].starts[row / 2][row % 2] = to[b].starts[row / 2][row % 2 + 2] = start;
    to[b].scales[row / 2][row % 2] = to[b].scales[row / 2][row % 2 + 2] = scale;
  }
}

// Scales of a pair of rows, brought to the range that they are multiplied in.
template <int pairs>
void settle_scales(PairsBlock<pairs>* blocks, std::int64_t count, int pair, float* unscale) {
  float32x4_t largest = vdupq_n_f32(0);
  for (std::int64_t b = 0; b < count; ++b)
    largest = vmaxnmq_f32(largest, vld1q_f32(blocks[b].scales[pair]));  // not NaN
  float of_rows[4], up[2][4];
  vst1q_f32(of_rows, largest);
  for (int i = 0; i < 4; ++i) {
    const int exponent = of_rows[i] == 0 ? 0 : -std::ilogb(of_rows[i]);
    if (i < 2) unscale[i] = std::ldexp(1.0f, -exponent);
    up[0][i] = std::ldexp(1.0f, exponent / 2);
    up[1][i] = std::ldexp(1.0f, exponent - exponent / 2);
  }
  const float32x4_t ups[2] = {vld1q_f32(up[0]), vld1q_f32(up[1])};
  for (std::int64_t b = 0; b < count; ++b) {
    const float32x4_t scales = rounded_scales(vld1q_f32(blocks[b].scales[pair]), ups);
    vst1q_f32(blocks[b].scales[pair], scales);
    vst1q_f32(blocks[b].less_starts[pair], vmulq_n_f32(scales, -float_start));
  }
}

// Rows from `first` on. One past the last counts for nothing.
template <int pairs>
void prepare_pairs(const Matmul::Arguments& a, std::int64_t first, int offset, Workers& workers, std::byte* prepared) {
  auto& x = *reinterpret_cast<PairsOfX<pairs>*>(prepared);
  const std::int64_t blocks = a.x.size(1) / 32, rows = std::min<std::int64_t>(2 * pairs, a.x.size(0) - first);
  x.before = {};
  workers.for_chunks(blocks, (blocks + workers.count() - 1) / workers.count(),
                     [&](std::int64_t begin, std::int64_t end, int) {
                       if (rows < 2 * pairs) std::fill(x.blocks() + begin, x.blocks() + end, PairsBlock<pairs>{});
                       for (std::int64_t row = 0; row < rows; ++row) {
                         const BlockReader from = row_reader(a, first + row, encode_activation_block.neon);
                         place_row<pairs>(from, begin, end, row, offset, x.blocks());
                       }
                     });
  for (int pair = 0; pair < pairs; ++pair) settle_scales<pairs>(x.blocks(), blocks, pair, x.unscale + 2 * pair);
}

// clang-format off
#define INGOT_LOAD(to, from, at) "ldr q" #to ", [%[" #from "], #" #at "]\n"
#define INGOT_ZIP1(to, a, b) "zip1 v" #to ".4s, v" #a ".4s, v" #b ".4s\n"
#define INGOT_ZIP2(to, a, b) "zip2 v" #to ".4s, v" #a ".4s, v" #b ".4s\n"
#define INGOT_LOW(to, bytes) "and v" #to ".16b, v" #bytes ".16b, v31.16b\n"
#define INGOT_HIGH(to, bytes) "ushr v" #to ".16b, v" #bytes ".16b, #4\n"
#define INGOT_MULTIPLY(to, w, x) "smmla v" #to ".4s, v" #w ".16b, v" #x ".16b\n"
#define INGOT_ADD(to, a, b) "fmla v" #to ".4s, v" #a ".4s, v" #b ".4s\n"
#define INGOT_WIDEN_LOW(to, halves) "fcvtl v" #to ".4s, v" #halves ".4h\n"
#define INGOT_WIDEN_HIGH(to, halves) "fcvtl2 v" #to ".4s, v" #halves ".8h\n"
// The memory is asked early: weights pass through the cache, x is to stay there.
#define INGOT_ASK(from, at) "prfm pldl1strm, [%[" #from "], #" #at "]\n"
#define INGOT_KEEP(from, at) "prfm pldl1keep, [%[" #from "], #" #at "]\n"
// n0 and n1 go on to the next block, where there is one.
#define INGOT_STEP(bytes) "mov %[step], #" #bytes "\n" "cmp %[left], #1\n" "csel %[step], %[step], xzr, gt\n"
#define INGOT_NEXT_ONE(bytes) INGOT_STEP(bytes) "add %[n0], %[n0], %[step]\n"
#define INGOT_NEXT_TWO(bytes) INGOT_NEXT_ONE(bytes) "add %[n1], %[n1], %[step]\n"
#define INGOT_ADVANCE_X(bytes) "sub %[left], %[left], #1\n" "add %[x], %[x], #" #bytes "\n" "mov %[w0], %[n0]\n"
#define INGOT_ADVANCE_ONE(bytes, of_x) INGOT_ADVANCE_X(of_x) INGOT_NEXT_ONE(bytes)
#define INGOT_ADVANCE_TWO(bytes, of_x) INGOT_ADVANCE_X(of_x) "mov %[w1], %[n1]\n" INGOT_NEXT_TWO(bytes)
#define INGOT_STORE(one, other, at) "stp q" #one ", q" #other ", [%[totals], #" #at "]\n"
#define INGOT_CLEAR \
  ".irp register, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n" \
  "movi v\\register\\().2d, #0\n" ".endr\n"
// clang-format on
