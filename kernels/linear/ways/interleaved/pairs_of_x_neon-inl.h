// Two to sixteen rows of x, in pairs, for interleaved weights in blocks of 32 and SMMLA: two rows of weights times two
// rows of x, eight codes each, into four 32-bit lanes
//
//   w0 x0   w0 x1   w1 x0   w1 x1
//
// Part of a source, inside its target attributes and an unnamed namespace of its own.
//
// Integers start from the bits of 1.5 * 2^23, where steps of one are bits of one: they stay below 2^20, so that their
// bits are a float. It is multiplied with a scale as it is, start and all, and what the start makes of it is taken away
// in the same instruction: exact where the scale has 22 bits or fewer.

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

enum class ScalesOfX : std::uint8_t {
  as_they_are,  // what the start makes of sums is taken away by what scales the rows of weights
  settled,      // by what scales x: see interleaved_pairs_neon-inl.h
};

// Rows from `first` on. One past the last counts for nothing.
template <int pairs>
void prepare_pairs(const Matmul::Arguments& a, std::int64_t first, int offset, ScalesOfX scales, Workers& workers,
                   std::byte* prepared) {
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
  std::fill(x.unscale, x.unscale + 2 * pairs, 1.0f);
  if (scales == ScalesOfX::as_they_are) return;
  for (int pair = 0; pair < pairs; ++pair) settle_scales<pairs>(x.blocks(), blocks, pair, x.unscale + 2 * pair);
}

constexpr std::int64_t most_set_rows = 16;  // of x, in two sets

// The rows of x in sets: function.operator()<pairs>(first row, place of what is prepared).
template <class Function>
HWY_INLINE void for_sets(const Matmul::Arguments& a, Function function) {
  const std::int64_t rows = a.x.size(0), blocks = a.x.size(1) / 32;
  std::size_t place = 0;
  const auto one = [&]<int pairs>(std::int64_t row) {
    function.template operator()<pairs>(row, place);
    place += sizeof(PairsOfX<pairs>) + static_cast<std::size_t>(blocks) * sizeof(PairsBlock<pairs>);
    return row + 2 * pairs;
  };
  if (rows <= 2) {
    one.template operator()<1>(0);
  } else if (rows <= 4) {
    one.template operator()<2>(0);
  } else {
    for (std::int64_t row = 0; row < rows;) {
      const bool is_wide = rows <= 8 ? rows > 6 : row == 0 ? rows > 12 : rows - row > 6;
      row = is_wide ? one.template operator()<4>(row) : one.template operator()<3>(row);
    }
  }
}

// Sums of a braid with rows of x from `first` on.
template <int pairs>
void store_totals(const Matmul::Arguments& a, const float* unscale, std::int64_t first, std::int64_t braid,
                  const PairTotals<pairs>& totals) {
  float bias[interleaved_rows] = {};
  if (a.bias.data() != nullptr) std::memcpy(bias, a.bias.data() + braid * interleaved_rows, sizeof(bias));
  for (std::int64_t row = 0; row < std::min<std::int64_t>(2 * pairs, a.y.size(0) - first); ++row) {
    float* to = &a.y(first + row, braid * interleaved_rows);
    for (int half = 0; half < 2; ++half) {
      const float32x4_t one = vld1q_f32(totals[2 * half][row / 2]), other = vld1q_f32(totals[2 * half + 1][row / 2]);
      const float32x4_t four = row % 2 == 0 ? vuzp1q_f32(one, other) : vuzp2q_f32(one, other);
      vst1q_f32(to + 4 * half, vaddq_f32(vmulq_n_f32(four, unscale[row]), vld1q_f32(bias + 4 * half)));
    }
  }
}
