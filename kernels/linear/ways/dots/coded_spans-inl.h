// Rows of x into spans of codes (coded_spans.h). Part of a source, inside its target attributes and an unnamed
// namespace of its own, which says before it includes this:
//
//   code_target                                               a SimdTarget, whose shared functions encode x
//   code_offset<Block>                                        what its codes have on top of a format's integers
//   void correct(CodedSpan32& or CodedSpan256&, int offset)   fills in the corrections for that offset

BlockReader row_of_x(const Gemm& gemm, std::int64_t row) {
  return {gemm.coded, gemm.left.data, gemm.left.width_stride, row, encode_activation_block.widest(code_target)};
}

void fill_span(const BlockReader& x, std::int64_t at, std::int64_t blocks, int offset, CodedSpan32& span) {
  if (blocks < 4) span = {};  // those past the end count for nothing
  for (std::int64_t b = 0; b < blocks; ++b) {
    alignas(64) std::int8_t codes[32];
    std::int32_t sums[2];
    const float scale = x.read(at + 32 * b, 32, codes, sums);
    std::memcpy(span.codes[0] + 16 * b, codes, 16);
    std::memcpy(span.codes[1] + 16 * b, codes + 16, 16);
    span.scales[b] = scale;
    span.scaled_sums[b] = scale * static_cast<float>(sums[0] + sums[1]);
  }
  correct(span, offset);
}

template <class Block>
void fill_span(const BlockReader& x, std::int64_t at, CodedSpan256& span) {
  alignas(64) std::int8_t codes[256];
  std::int32_t sums[16];
  std::memset(span.sums, 0, sizeof(span.sums));
  span.scale = x.read(at, 256, codes, sums);
  for (int sixteen = 0; sixteen < 16; ++sixteen) {
    std::memcpy(&span.codes[sixteen / 4][sixteen % 4 * 16], codes + 16 * CodedOrder<Block>::sixteens[sixteen], 16);
    span.sums[sixteen * 16 / Block::group] =
        static_cast<std::int16_t>(span.sums[sixteen * 16 / Block::group] + sums[sixteen]);
  }
  correct(span, code_offset<Block>);
}

template <class Block>
void fill_spans(const Gemm& gemm, std::byte* scratch) {
  for (std::int64_t row = 0; row < gemm.rows; ++row) {
    const BlockReader x = row_of_x(gemm, row);
    if constexpr (Block::elements == 32) {
      const std::int64_t blocks = gemm.depth / 32;
      auto* spans = reinterpret_cast<CodedSpan32*>(scratch) + row * ((blocks + 3) / 4);
      for (std::int64_t b = 0; b < blocks; b += 4) {
        fill_span(x, 32 * b, std::min<std::int64_t>(4, blocks - b), code_offset<Block>, spans[b / 4]);
      }
    } else {
      auto* spans = reinterpret_cast<CodedSpan256*>(scratch) + row * (gemm.depth / 256);
      for (std::int64_t b = 0; b < gemm.depth / 256; ++b) fill_span<Block>(x, 256 * b, spans[b]);
    }
  }
}
