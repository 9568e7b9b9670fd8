// Tile instructions. Part of a source, inside its target attributes.
//
// In assembly, because GCC 12's intrinsics take literal tile numbers only, no constants of a template, and do not tell
// the compiler that they read memory.

// As LDTILECFG reads it.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

HWY_INLINE void configure_tiles(const TileShapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }
HWY_INLINE void release_tiles() { asm volatile("tilerelease"); }

template <int tile>
HWY_INLINE void zero_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(tile));
}
template <int tile>
HWY_INLINE void load_tile(const void* from, std::int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
HWY_INLINE void store_tile(void* to, std::int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(tile) : "memory");
}
// sums += left * right, of signed bytes: four neighbours of a row of the left times four of a column of the right.
template <int sums, int left, int right>
HWY_INLINE void multiply_tiles() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(left), "i"(right));
}
// The same of bf16 numbers, in pairs, into floats.
template <int sums, int left, int right>
HWY_INLINE void multiply_bf16_tiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(left), "i"(right));
}
