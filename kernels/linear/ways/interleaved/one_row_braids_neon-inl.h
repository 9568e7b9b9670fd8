// One row of x and braids of weights, two at a time (multiply_two_braids). Part of a source, inside its target
// attributes and an unnamed namespace of its own.

HWY_INLINE void store_braid(const Matmul::Arguments& a, std::int64_t row, std::int64_t braid,
                            const float32x4_t (&totals)[2]) {
  const float* bias = a.bias.data() == nullptr ? nullptr : a.bias.data() + braid * interleaved_rows;
  for (int half = 0; half < 2; ++half) {
    float32x4_t total = totals[half];
    if (bias != nullptr) total = vaddq_f32(total, vld1q_f32(bias + 4 * half));
    vst1q_f32(&a.y(row, braid * interleaved_rows) + 4 * half, total);
  }
}

// LaneBlock: a block of x as a format's braids meet it, with
//   static void place(const std::int8_t* codes, float scale, const std::int32_t* sums, LaneBlock& to);
template <class Block>
struct OneRow;

template <class Block>
void prepare_one_row(const Matmul::Arguments& a, std::byte* prepared) {
  using LaneBlock = typename OneRow<Block>::LaneBlock;
  auto* to = reinterpret_cast<LaneBlock*>(prepared);
  const BlockReader from = row_reader(a, 0, encode_activation_block.neon);
  for (std::int64_t b = 0; b < a.x.size(1) / Block::elements; ++b) {
    alignas(16) std::int8_t codes[Block::elements];
    std::int32_t sums[Block::elements / code_group];
    const float scale = from.read(b * Block::elements, Block::elements, codes, sums);
    LaneBlock::place(codes, scale, sums, to[b]);
  }
}

// Braids from far apart side by side, because the memory answers several long streams faster than one.
template <class Block>
void multiply_one_row(const Matmul::Arguments& a, const std::byte* prepared) {
  const auto* x = reinterpret_cast<const typename OneRow<Block>::LaneBlock*>(prepared);
  const std::int64_t blocks = a.x.size(1) / Block::elements;
  const std::int64_t braids = a.y.size(1) / interleaved_rows, length = (braids + 1) / 2;
  const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data());
  for (std::int64_t first = 0; first < length; ++first) {
    const std::int64_t second = std::min(first + length, braids - 1);  // the last one twice where they are odd
    float32x4_t totals[2][2];
    multiply_two_braids(weights + first * blocks, weights + second * blocks, blocks, x, totals);
    store_braid(a, 0, first, totals[0]);
    store_braid(a, 0, second, totals[1]);
  }
}
