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
