// Codes whose dot products are 32-bit sums, in the lanes of a register: what such instruction sets have in common. Part
// of a source, after lanes_256-inl.h or lanes_512-inl.h.
struct DotBytes {
  static constexpr int most_planes = 1;
  template <class Block>
  static constexpr CodePlanes planes = dot_planes<Block>;
  template <class Block>
  static constexpr int offset = unsigned_range<Block>.offset;

  using Total = Lanes::Floats;
  static HWY_INLINE Lanes::Integers total(Lanes::Integers chain, int) { return chain; }
  static HWY_INLINE Total add_scaled(Total total, Lanes::Integers chain, int, const float* scales) {
    return Lanes::multiply_add(Lanes::to_floats(chain), Lanes::load_floats(scales), total);
  }
  static HWY_INLINE Lanes::Floats to_floats(Total total) { return total; }
  static HWY_INLINE void store_scale(float* to, Lanes::Integers scales) {
    Lanes::store_floats(to, Lanes::to_floats(scales));
  }
  static std::int32_t correction(const std::int8_t* codes, int count, int offset) {
    std::int32_t sum = 0;
    for (int i = 0; i < count; ++i) sum += codes[i];
    return -offset * sum;
  }
};

HWY_INLINE std::int32_t four_codes(const std::int8_t* codes) {
  std::int32_t word;
  std::memcpy(&word, codes, sizeof(word));
  return word;
}
