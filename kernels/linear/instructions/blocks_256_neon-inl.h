// Codes and scales of formats of 256 elements in registers. Part of a source, after blocks_32_neon-inl.h.

// Sixteen codes by their place in CodedOrder, as the bytes store them: without a format's offset.
HWY_INLINE uint8x16_t nibbles_at(const std::uint8_t (&low)[128], int place) {
  const uint8x16_t packed = vld1q_u8(low + 64 * (place / 8) + 16 * (place % 4));
  return place % 8 < 4 ? vandq_u8(packed, vdupq_n_u8(15)) : vshrq_n_u8(packed, 4);
}
template <int shift>
HWY_INLINE uint8x16_t shifted_right(uint8x16_t bytes) {
  if constexpr (shift > 0) return vshrq_n_u8(bytes, shift);
  if constexpr (shift < 0) return vshlq_n_u8(bytes, -shift);
  return bytes;
}
template <int place>
HWY_INLINE uint8x16_t two_bits_at(const std::uint8_t (&low)[64]) {
  const uint8x16_t bits = shifted_right<place / 4 * 2>(vld1q_u8(low + 16 * (place % 4)));
  return place / 4 == 3 ? bits : vandq_u8(bits, vdupq_n_u8(3));
}
// The bits of `mask` from `bytes` shifted right.
template <int shift>
HWY_INLINE uint8x16_t with_high(uint8x16_t codes, const std::uint8_t* bytes, int mask) {
  return vbslq_u8(vdupq_n_u8(static_cast<std::uint8_t>(mask)), shifted_right<shift>(vld1q_u8(bytes)), codes);
}

template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ4_K& block) {
  return nibbles_at(block.low, place);
}
template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ5_K& block) {
  constexpr int group = CodedOrder<BlockQ5_K>::sixteens[place] / 2;
  return with_high<group - 4>(nibbles_at(block.low, place), block.high + 16 * (place % 2), 16);
}
template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ2_K& block) {
  return two_bits_at<place>(block.low);
}
template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ3_K& block) {
  constexpr int bit = CodedOrder<BlockQ3_K>::sixteens[place] / 2;
  return with_high<bit - 2>(two_bits_at<place>(block.low), block.high + 16 * (place % 2), 4);
}
template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ6_K& block) {
  constexpr int shift = place % 8 / 2 * 2;
  return with_high<shift - 4>(nibbles_at(block.low, place), block.high + 32 * (place / 8) + 16 * (place % 2), 0x30);
}

template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockIQ4_XS& block) {
  const uint8x16_t packed = vld1q_u8(block.low + 16 * (place / 2));
  const uint8x16_t nibbles = place % 2 == 0 ? vandq_u8(packed, vdupq_n_u8(15)) : vshrq_n_u8(packed, 4);
  return vreinterpretq_u8_s8(vqtbl1q_s8(vld1q_s8(iq4_nl_values), nibbles));
}

// Integer scales and minimums of the groups, a word each.
struct GroupWords {
  int16x8_t scales[2];
  int16x8_t minimums[2];
};
HWY_INLINE int16x8_t words_of(std::uint32_t lower, std::uint32_t upper) {
  return vreinterpretq_s16_u16(vmovl_u8(vcreate_u8(lower | std::uint64_t{upper} << 32)));
}
HWY_INLINE GroupWords load_pairs(const std::uint8_t (&packed)[12]) {
  const SixBitPairs pairs = six_bit_pairs(packed);
  const int16x8_t zero = vdupq_n_s16(0);
  return {{words_of(pairs.scales[0], pairs.scales[1]), zero}, {words_of(pairs.minimums[0], pairs.minimums[1]), zero}};
}
HWY_INLINE GroupWords load_groups(const BlockQ4_K& block) { return load_pairs(block.scales); }
HWY_INLINE GroupWords load_groups(const BlockQ5_K& block) { return load_pairs(block.scales); }
HWY_INLINE GroupWords load_groups(const BlockQ2_K& block) {
  const uint8x16_t both = vld1q_u8(block.scales);
  const int8x16_t scales = vreinterpretq_s8_u8(vandq_u8(both, vdupq_n_u8(15)));
  const int8x16_t minimums = vreinterpretq_s8_u8(vshrq_n_u8(both, 4));
  return {{vmovl_s8(vget_low_s8(scales)), vmovl_high_s8(scales)},
          {vmovl_s8(vget_low_s8(minimums)), vmovl_high_s8(minimums)}};
}
HWY_INLINE GroupWords load_groups(const BlockQ3_K& block) {
  const SixBitScales words = six_bit_scales(block.scales);
  const int16x8_t too_large = vdupq_n_s16(32);
  return {{vsubq_s16(words_of(words.scales[0], words.scales[1]), too_large),
           vsubq_s16(words_of(words.scales[2], words.scales[3]), too_large)},
          {}};
}
HWY_INLINE GroupWords load_groups(const BlockQ6_K& block) {
  const int8x16_t scales = vld1q_s8(block.scales);
  return {{vmovl_s8(vget_low_s8(scales)), vmovl_high_s8(scales)}, {}};
}

HWY_INLINE GroupWords load_groups(const BlockIQ4_XS& block) {
  const std::uint64_t nibbles = word_at(block.scales_low), twos = word_at(block.scale.bytes) >> 16;
  const auto shifted = [](std::uint64_t bits, int by, std::uint64_t mask) { return (bits | bits << by) & mask; };
  // Each a byte of eight: the distance between neighbours doubles three times.
  const std::uint64_t low =
      shifted(shifted(shifted(nibbles, 16, 0x0000ffff0000ffff), 8, 0x00ff00ff00ff00ff), 4, 0x0f0f0f0f0f0f0f0f);
  const std::uint64_t high =
      shifted(shifted(shifted(twos, 24, 0x000000ff000000ff), 12, 0x000f000f000f000f), 6, 0x0303030303030303);
  const int16x8_t six = vreinterpretq_s16_u16(vmovl_u8(vcreate_u8(low | high << 4)));
  return {{vsubq_s16(six, vdupq_n_s16(32)), vdupq_n_s16(0)}, {}};
}

HWY_INLINE float half_value(const StoredHalf& half) {
  __fp16 value;
  std::memcpy(&value, half.bytes, sizeof(value));
  return static_cast<float>(value);
}
