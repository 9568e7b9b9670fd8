// What products of few coded rows do alike on every machine: hand out the columns. Part of a source, after
// coded_spans-inl.h, which says before it includes this:
//
//   void multiply_columns_32<Block, rows>(gemm, coded spans, begin, end), and ..._256: columns begin to end
//   code_chunk_bytes: DotProduct::chunk_bytes

template <class Block, int rows>
void multiply_columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  if constexpr (Block::elements == 32) {
    multiply_columns_32<Block, rows>(gemm, coded, begin, end);
  } else {
    multiply_columns_256<Block, rows>(gemm, coded, begin, end);
  }
}

template <class Block>
constexpr auto columns_of_rows() {
  using Columns = void (*)(const Gemm&, const std::byte*, std::int64_t, std::int64_t);
  return std::array<Columns, dot_rows>{multiply_columns<Block, 1>, multiply_columns<Block, 2>,
                                       multiply_columns<Block, 3>, multiply_columns<Block, 4>};
}

void encode(const Gemm& gemm, std::byte* coded) {
  with_block_type(gemm.right.dtype, [&]<class Block>() { fill_spans<Block>(gemm, coded); });
}

void columns(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  with_block_type(gemm.right.dtype, [&]<class Block>() {
    columns_of_rows<Block>()[static_cast<std::size_t>(gemm.rows - 1)](gemm, coded, begin, end);
  });
}

constexpr DotProduct product = {encode, columns, code_chunk_bytes};
