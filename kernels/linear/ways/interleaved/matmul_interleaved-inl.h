// What products of interleaved weights whose codes stay bytes share: x as codes, braids for up to four rows of x at a
// time. Part of a source, inside its target attributes and an unnamed namespace of its own.

// One block of a row of x as 8-bit codes, and as the pairs of words that a vector of weights is multiplied with: the
// words of a row's four bytes hold elements 4 i, 4 i + 2 (their low bytes) and 4 i + 1, 4 i + 3 (their high ones).
struct CodedBlock {
  std::int8_t codes[32];
  std::int16_t pairs[16][2];  // 2 i and 2 i + 1 of elements 4 i to 4 i + 3
  float scale;
  std::int32_t sum;  // of the codes
};

// Rows of x that meet the weights while these are in registers.
constexpr std::int64_t rows_at_once = 4;

bool keeps_bytes(const Matmul::Arguments& a) { return keeps_code_bytes(a.weights.dtype()); }

std::size_t coded_bytes(const Matmul::Arguments& a) {
  return static_cast<std::size_t>(a.x.size(0) * (a.x.size(1) / 32)) * sizeof(CodedBlock);
}

void code_rows(const Matmul::Arguments& a, EncodeFunction encode, CodedBlock* coded) {
  for (std::int64_t row = 0; row < a.x.size(0); ++row) {
    const BlockReader from = row_reader(a, row, encode);
    for (std::int64_t b = 0; b < a.x.size(1) / 32; ++b, ++coded) {
      std::int32_t sums[2];
      coded->scale = from.read(32 * b, 32, coded->codes, sums);
      coded->sum = sums[0] + sums[1];
      for (int i = 0; i < 32; i += 4) {
        for (int odd = 0; odd < 2; ++odd) {
          // NOLINTBEGIN(bugprone-signed-char-misuse): these are numbers and no letters
          coded->pairs[i / 2 + odd][0] = coded->codes[i + odd];
          coded->pairs[i / 2 + odd][1] = coded->codes[i + odd + 2];
          // NOLINTEND(bugprone-signed-char-misuse)
        }
      }
    }
  }
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

// Columns<Block, rows>::run(a, x, first row): all braids, for a few rows of x.
template <template <class Block, int rows> class Columns>
void multiply_coded(const Matmul::Arguments& a, const std::byte* prepared) {
  const auto* x = reinterpret_cast<const CodedBlock*>(prepared);
  with_kept_bytes_type(a.weights.dtype(), [&]<class Block>() {
    using Run = void (*)(const Matmul::Arguments&, const CodedBlock*, std::int64_t);
    constexpr Run by_rows[] = {Columns<Block, 1>::run, Columns<Block, 2>::run, Columns<Block, 3>::run,
                               Columns<Block, 4>::run};
    for (std::int64_t row = 0; row < a.y.size(0); row += rows_at_once) {
      by_rows[std::min(rows_at_once, a.y.size(0) - row) - 1](a, x, row);
    }
  });
}
