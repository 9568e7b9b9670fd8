// What the variants of matmul_interleaved.h share: x becomes codes once, then chunks of columns go to the threads. Part
// of a source, inside its target attributes and an unnamed namespace of its own.

// Encode: float (const float* x, std::int8_t* codes, std::int32_t (&sums)[2]) returns the scale of 32 elements.
template <class Encode>
HWY_INLINE CodedBlock* code_rows(const Matmul::Arguments& a, Context& context, Encode encode) {
  auto* coded = reinterpret_cast<CodedBlock*>(context.scratch.data());
  const std::int64_t blocks = a.x.size(1) / 32;
  for (std::int64_t row = 0; row < a.x.size(0); ++row) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      CodedBlock& block = coded[row * blocks + b];
      std::int32_t sums[2];
      block.scale = encode(&a.x(row, 0) + 32 * b, block.codes, sums);
      block.sum = sums[0] + sums[1];
      for (int i = 0; i < 32; i += 4) {
        for (int odd = 0; odd < 2; ++odd) {
          // NOLINTBEGIN(bugprone-signed-char-misuse): these are numbers and no letters
          block.pairs[i / 2 + odd][0] = block.codes[i + odd];
          block.pairs[i / 2 + odd][1] = block.codes[i + odd + 2];
          // NOLINTEND(bugprone-signed-char-misuse)
        }
      }
    }
  }
  return coded;
}

// Asks for what comes 4 KiB later, about the time of a load from memory. Past the end that is harmless.
template <class Blocks>
HWY_INLINE void prefetch(const Blocks* from) {
  const auto address = reinterpret_cast<std::uintptr_t>(from) + 4096;
  for (std::size_t line = 0; line < sizeof(Blocks); line += 64) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address past the end is not an element's, and never read
    hwy::Prefetch(reinterpret_cast<const char*>(address + line));
  }
}

// Columns<Block, rows>::run(a, x, first row, begin, end): groups of eight columns for a few rows of x.
template <template <class Block, int rows> class Columns>
void multiply_in_chunks(const Matmul::Arguments& a, Context& context, const CodedBlock* x) {
  const std::int64_t group_bytes = interleaved_rows * row_bytes(a.weights.dtype(), a.x.size(1));
  with_kept_bytes_type(a.weights.dtype(), [&]<class Block>() {
    using Run = void (*)(const Matmul::Arguments&, const CodedBlock*, std::int64_t, std::int64_t, std::int64_t);
    constexpr Run by_rows[] = {Columns<Block, 1>::run, Columns<Block, 2>::run, Columns<Block, 3>::run,
                               Columns<Block, 4>::run};
    context.workers.for_chunks(a.y.size(1) / interleaved_rows, rows_per_chunk(group_bytes),
                               [&](std::int64_t begin, std::int64_t end, int) {
                                 for (std::int64_t row = 0; row < a.y.size(0); row += interleaved_rows_at_once) {
                                   const std::int64_t rows = std::min(interleaved_rows_at_once, a.y.size(0) - row);
                                   by_rows[rows - 1](a, x, row, begin, end);
                                 }
                               });
  });
}
