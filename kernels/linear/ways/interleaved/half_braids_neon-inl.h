// Five to sixteen rows of x and interleaved weights in blocks of 32, by SMMLA: three or four pairs of rows (a set), or
// two sets. Part of a source, after interleaved_pairs_neon-inl.h.
//
// Half a braid, four of its rows, times four pairs has eight sums of integers and eight of floats: both fit the
// registers, and weights go from memory to products without a store. A set takes two passes over a part of a braid's
// depth, which stays in the first-level cache with as much of x. Meanwhile the memory is asked for the part that comes
// next.

// Where four rows of a braid begin.
template <class Block>
struct HalfBraid {
  const std::byte *codes, *scales;
  HalfBraid(const InterleavedBlocks<Block>* braid, int half)
      : codes(reinterpret_cast<const std::byte*>(braid) + 16 * half),
        scales(reinterpret_cast<const std::byte*>(braid->scales + 4 * half)) {}
};
template <int pairs>
using HalfBraidTotals = float[2][pairs][4];

// clang-format off
#define INGOT_LOAD_HALVES(to) "ldr d" #to ", [%[scales]]\n"
#define INGOT_TAKE(one, other, at) "ldp q" #one ", q" #other ", [%[totals], #" #at "]\n"
#define INGOT_ADVANCE_HALF(bytes, ahead_bytes, of_x) \
  INGOT_ADVANCE_ONE(bytes, of_x) \
  "add %[scales], %[scales], #" #bytes "\n" "add %[ahead], %[ahead], #" #ahead_bytes "\n"
// clang-format on

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
  if (rows == 2) {
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
