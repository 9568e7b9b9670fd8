// Codes and scales of formats of 32 elements in registers. Part of a source, inside its target attributes and an
// unnamed namespace of its own.

// Codes are signed as the instruction wants them; where a format's are not, it costs less to correct sums than codes.
template <class Block>
constexpr int code_offset = stored_offset<Block>;
template <>
inline constexpr int code_offset<BlockQ5_0> = 0;
template <>
inline constexpr int code_offset<BlockQ5_1> = -16;

// Elements 0 to 15 of a block, and 16 to 31.
struct Codes32 {
  int8x16_t first, second;
};

HWY_INLINE Codes32 load_nibbles(const std::uint8_t (&low)[16]) {
  const uint8x16_t packed = vld1q_u8(low);
  return {vreinterpretq_s8_u8(vandq_u8(packed, vdupq_n_u8(15))), vreinterpretq_s8_u8(vshrq_n_u8(packed, 4))};
}

HWY_INLINE Codes32 load_codes(const BlockQ4_0& block) { return load_nibbles(block.low); }
HWY_INLINE Codes32 load_codes(const BlockQ4_1& block) { return load_nibbles(block.low); }
HWY_INLINE Codes32 load_codes(const BlockQ8_0& block) { return {vld1q_s8(block.codes), vld1q_s8(block.codes + 16)}; }

// The codes that nibbles stand for.
template <class Block>
HWY_INLINE int8x16_t codes_of(uint8x16_t nibbles) {
  if constexpr (std::is_same_v<Block, BlockIQ4_NL>) return vqtbl1q_s8(vld1q_s8(iq4_nl_values), nibbles);
  if constexpr (std::is_same_v<Block, BlockMXFP4>) return vqtbl1q_s8(vld1q_s8(mxfp4_values), nibbles);
  return vreinterpretq_s8_u8(nibbles);
}
template <class Block>
HWY_INLINE Codes32 look_up(const Block& block) {
  const Codes32 nibbles = load_nibbles(block.low);
  return {codes_of<Block>(vreinterpretq_u8_s8(nibbles.first)), codes_of<Block>(vreinterpretq_u8_s8(nibbles.second))};
}
HWY_INLINE Codes32 load_codes(const BlockIQ4_NL& block) { return look_up(block); }
HWY_INLINE Codes32 load_codes(const BlockMXFP4& block) { return look_up(block); }

// A nibble under four ones is itself less 16: ones go where the fifth bit is not, and codes come out 16 too small.
template <class Block>
  requires(requires(const Block& block) { block.high; })
HWY_INLINE Codes32 load_codes(const Block& block) {
  const Codes32 nibbles = load_nibbles(block.low);
  const uint8x16_t missing = vreinterpretq_u8_u32(vdupq_n_u32(~word_at(block.high)));
  const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
  constexpr std::uint8_t bytes[32] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                      2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
  auto less_16 = [&](int8x16_t codes, const std::uint8_t* from) __attribute__((always_inline)) {
    const uint8x16_t ones = vtstq_u8(vqtbl1q_u8(missing, vld1q_u8(from)), bit);
    return vreinterpretq_s8_u8(vsliq_n_u8(vreinterpretq_u8_s8(codes), ones, 4));
  };
  return {less_16(nibbles.first, bytes), less_16(nibbles.second, bytes + 16)};
}

struct FourScales {
  float32x4_t scales;
  float32x4_t bases;  // where the format has them
};

HWY_INLINE float32x4_t floats_of(uint16x4_t halves) { return vcvt_f32_f16(vreinterpret_f16_u16(halves)); }

// Joined in general registers: their pipes have nothing else to do.
template <class Block, bool all>
HWY_INLINE FourScales load_scales(FourBlocks<Block, all> blocks) {
  if constexpr (std::is_same_v<Block, BlockMXFP4>) {
    std::uint32_t exponents = 0;
    for (int i = 0; i < 4; ++i) exponents |= std::uint32_t{blocks[i]->exponent} << 8 * i;
    const uint32x4_t stored = vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(exponents))));
    const uint32x4_t subnormal = vshlq_u32(vdupq_n_u32(0x00200000), vreinterpretq_s32_u32(stored));
    const uint32x4_t normal = vshlq_n_u32(vsubq_u32(stored, vdupq_n_u32(1)), 23);
    const uint32x4_t bits = vbslq_u32(vcltq_u32(stored, vdupq_n_u32(2)), subnormal, normal);
    return {vreinterpretq_f32_u32(bits), vdupq_n_f32(0)};
  } else if constexpr (requires(const Block& block) { block.base; }) {
    auto pair = [&](int i) __attribute__((always_inline)) {
      const std::uint64_t later = word_at(blocks[i + 1]->scale.bytes);
      return vcreate_u16(word_at(blocks[i]->scale.bytes) | later << 32);
    };
    const uint16x8_t both = vcombine_u16(pair(0), pair(2));
    const uint16x8_t sorted = vuzp1q_u16(both, both);
    return {floats_of(vget_low_u16(sorted)), floats_of(vget_low_u16(vuzp2q_u16(both, both)))};
  } else {
    std::uint64_t halves = 0;
    for (int i = 0; i < 4; ++i) halves |= std::uint64_t{blocks[i]->scale.bits()} << 16 * i;
    return {floats_of(vcreate_u16(halves)), vdupq_n_f32(0)};
  }
}

// What coded_spans-inl.h asks for: one lane a block of 32, and of 256 one for each lane of a dot product.
HWY_INLINE void correct(CodedSpan32& span, int offset) {
  const int8x16_t ones = vdupq_n_s8(1);
  int32x4_t sums[4];
  unrolled<4>(INGOT_UNROLLED(b) {
    const int32x4_t first = vdotq_s32(vdupq_n_s32(0), ones, vld1q_s8(span.codes[0] + 16 * b));
    sums[b] = vdotq_s32(first, ones, vld1q_s8(span.codes[1] + 16 * b));
  });
  const int32x4_t all = vpaddq_s32(vpaddq_s32(sums[0], sums[1]), vpaddq_s32(sums[2], sums[3]));
  vst1q_s32(span.corrections, vmulq_n_s32(all, -offset));
}
HWY_INLINE void correct(CodedSpan256& span, int offset) {
  if (offset == 0) return;  // nobody reads them
  const int8x16_t factor = vdupq_n_s8(static_cast<std::int8_t>(-offset));
  unrolled<16>(INGOT_UNROLLED(sixteen) {
    const int8x16_t codes = vld1q_s8(span.codes[sixteen / 4] + 16 * (sixteen % 4));
    vst1q_s32(span.corrections[sixteen / 4] + 4 * (sixteen % 4), vdotq_s32(vdupq_n_s32(0), factor, codes));
  });
}
