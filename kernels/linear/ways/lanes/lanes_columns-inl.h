// What products in lanes (lanes.h) do alike: encode x, hand out the columns. Part of a source, after what unpacks
// panels and a LaneMultiplier, which multiplies them; of Bytes it takes:
//
//   static std::int32_t correction(const std::int8_t* codes, int count, int offset);   of a group

template <class Block>
void encode_span(const BlockReader& x, std::int64_t at, std::int64_t length, LaneSpan& span) {
  constexpr bool has_base =
      requires(const Block& block) { block.base; } || requires(const Block& block) { block.minimum; };
  constexpr int offset = Bytes::template planes<Block>.offset;
  for (int begin = 0; begin < length; begin += Block::elements) {
    std::int32_t sums[Block::elements / code_group];
    const float scale = x.read(at + begin, Block::elements, span.codes + begin, sums);
    span.scales[begin / Block::elements] = scale;
    for (int group = 0; group < Block::elements / Block::group; ++group) {
      const int to = begin / Block::group + group;
      if constexpr (has_base) {
        const std::int32_t sum = Block::group == 16 ? sums[group] : sums[2 * group] + sums[2 * group + 1];
        span.scaled_sums[to] = scale * static_cast<float>(sum);
      }
      if constexpr (offset != 0) {
        span.corrections[to] = Bytes::correction(span.codes + begin + Block::group * group, Block::group, offset);
      }
    }
  }
}

void encode(const Gemm& gemm, std::byte* place, std::int64_t begin, std::int64_t end) {
  auto* spans = reinterpret_cast<LaneSpan*>(place);
  with_block_type(gemm.right.dtype, [&]<class Block>() {
    for (std::int64_t row = begin; row < end; ++row) {
      const BlockReader x(gemm.coded, gemm.left.data, gemm.left.width_stride, row,
                          encode_activation_block.widest(code_target));
      for (std::int64_t at = 0; at < gemm.depth; at += lane_depth) {
        const std::int64_t length = std::min<std::int64_t>(lane_depth, gemm.depth - at);
        encode_span<Block>(x, at, length, spans[at / lane_depth * gemm.rows + row]);
      }
    }
  });
}

// Lines of the weights that come up some steps later. Rows are read side by side and often shorter than a page, which
// hardware prefetching does poorly on. An address past the end is never read.
HWY_INLINE void prefetch_rows(const std::byte* from, std::int64_t stride, std::int64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(from);
  for (int row = 0; row < Lanes::count; ++row) {
    for (std::int64_t at = 0; at < bytes; at += 64) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): see above
      _mm_prefetch(reinterpret_cast<const char*>(first + static_cast<std::uintptr_t>(row * stride + at)), _MM_HINT_T0);
    }
  }
}

template <class Block>
void multiply_columns(const Gemm& gemm, const LaneSpan* x) {
  constexpr std::int64_t most_blocks = lane_depth / Block::elements;
  constexpr std::int64_t step_bytes = most_blocks * static_cast<std::int64_t>(sizeof(Block));
  constexpr std::int64_t steps_ahead = 4;
  const std::int64_t blocks = gemm.depth / Block::elements;
  const std::int64_t stride = gemm.right.width_stride;
  LaneMultiplier multiplier;
  LanePanel panel;
  alignas(64) float sums[most_lane_rows][Lanes::count];
  // Fewer columns than lanes are copied: rows that are not there are zeros.
  alignas(64) std::byte copied[Lanes::count][step_bytes] = {};
  const bool is_narrow = gemm.columns < Lanes::count;
  for (std::int64_t column = 0; column < gemm.columns; column += Lanes::count) {
    // The last group begins earlier so that it is whole; what it computes again is the same.
    column = std::max<std::int64_t>(0, std::min(column, gemm.columns - Lanes::count));
    const std::byte* weights = gemm.right.data + column * stride;
    std::memset(sums, 0, sizeof(sums[0]) * static_cast<std::size_t>(gemm.rows));
    for (std::int64_t first = 0, step = 0; first < blocks; first += most_blocks, ++step) {
      const std::int64_t count = std::min(most_blocks, blocks - first);
      const std::byte* from = weights + first * static_cast<std::int64_t>(sizeof(Block));
      if (is_narrow) {
        for (std::int64_t row = 0; row < gemm.columns; ++row) {
          std::memcpy(copied[row], from + row * stride, static_cast<std::size_t>(count) * sizeof(Block));
        }
        unpack<Block>(copied[0], step_bytes, count, panel);
      } else {
        const std::int64_t later = first + steps_ahead * most_blocks;
        prefetch_rows(later < blocks ? from + steps_ahead * step_bytes
                                     : from + Lanes::count * stride +
                                           (later - blocks - first) * static_cast<std::int64_t>(sizeof(Block)),
                      stride, step_bytes);
        unpack<Block>(from, stride, count, panel);
      }
      multiplier.template multiply<Block>(panel, count, x + step * gemm.rows, gemm.rows, sums);
    }
    for (std::int64_t row = 0; row < gemm.rows; ++row) {
      float* out = gemm.out + row * gemm.out_stride + column;
      if (is_narrow) {
        for (std::int64_t i = 0; i < gemm.columns; ++i) {
          out[i] = sums[row][i] + (gemm.bias == nullptr ? 0.0f : gemm.bias[i]);
        }
      } else {
        const Lanes::Floats added =
            gemm.bias == nullptr ? Lanes::floats(0) : Lanes::load_any_floats(gemm.bias + column);
        Lanes::store_any_floats(out, Lanes::add(Lanes::load_floats(sums[row]), added));
      }
    }
  }
}

void columns(const Gemm& gemm, const std::byte* spans) {
  with_block_type(gemm.right.dtype,
                  [&]<class Block>() { multiply_columns<Block>(gemm, reinterpret_cast<const LaneSpan*>(spans)); });
}
