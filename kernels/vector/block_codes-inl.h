// The integer codes of a block in vectors: what unpack_codes of tensor/block_codes.cc does, a register at a time.
// Included inside a vector source after hwy/highway.h; the include guard toggles with each target, as Highway asks of
// such headers.
//
// Codes go through a buffer in the first cache level rather than stay in registers: then one dequantizer and one dot
// product serve all formats. Every load is inside its block, so no format reads beyond the last one.
#if defined(INGOT_KERNELS_VECTOR_BLOCK_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_BLOCK_CODES_INL_H_
#undef INGOT_KERNELS_VECTOR_BLOCK_CODES_INL_H_
#else
#define INGOT_KERNELS_VECTOR_BLOCK_CODES_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "tensor/block_codes.h"
#include "tensor/block_scales.h"
#include "tensor/generic_codes.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// Stores bytes minus an offset as signed codes.
template <class D, class V>
HWY_INLINE void store_codes(D, V bytes, int offset, std::int8_t* codes) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  hn::StoreU(hn::Sub(hn::BitCast(di, bytes), hn::Set(di, static_cast<std::int8_t>(offset))), di, codes);
}

// --- formats of 32 elements: sixteen bytes hold elements j (low halves) and j + 16 (high halves) ---

// Bit j of the four bytes as 16 or 0 in byte j, for elements 16 * half to 16 * half + 15.
template <class D>
HWY_INLINE auto fifth_bits(D d, const std::uint8_t (&high)[4], int half) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Repartition<std::uint16_t, D> d16;
  const hn::Repartition<std::uint64_t, D> d64;
  std::uint16_t bits;
  std::memcpy(&bits, high + 2 * half, sizeof(bits));
  // Every byte of the pair in eight lanes, each lane keeping its own bit.
  alignas(16) static constexpr std::uint8_t spread[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  const auto repeated = hn::TableLookupBytes(hn::BitCast(d, hn::Set(d16, bits)), hn::Load(d, spread));
  const auto own = hn::BitCast(d, hn::Set(d64, std::uint64_t{0x8040201008040201u}));
  return hn::IfThenElseZero(hn::Eq(hn::And(repeated, own), own), hn::Set(d, std::uint8_t{16}));
}

struct NibblePair {
  hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::FixedTag<std::uint8_t, 16>> low, high;
};
HWY_INLINE NibblePair load_nibbles(const std::uint8_t* bytes) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<std::uint8_t, 16> d;
  const auto packed = hn::LoadU(d, bytes);
  return {hn::And(packed, hn::Set(d, std::uint8_t{15})), hn::ShiftRight<4>(packed)};
}

HWY_INLINE void store_nibbles(NibblePair codes, int offset, std::int8_t* out) {
  const hwy::HWY_NAMESPACE::FixedTag<std::uint8_t, 16> d;
  store_codes(d, codes.low, offset, out);
  store_codes(d, codes.high, offset, out + 16);
}

template <class Block>
HWY_INLINE NibblePair load_five_bits(const Block& block) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<std::uint8_t, 16> d;
  const NibblePair codes = load_nibbles(block.low);
  return {hn::Or(codes.low, fifth_bits(d, block.high, 0)), hn::Or(codes.high, fifth_bits(d, block.high, 1))};
}

HWY_INLINE void store_looked_up(const std::uint8_t* low, const std::int8_t (&values)[16], std::int8_t* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<std::int8_t, 16> d;
  const NibblePair codes = load_nibbles(low);
  const auto table = hn::LoadU(d, values);
  hn::StoreU(hn::TableLookupBytes(table, hn::BitCast(d, codes.low)), d, out);
  hn::StoreU(hn::TableLookupBytes(table, hn::BitCast(d, codes.high)), d, out + 16);
}

HWY_INLINE void unpack_codes_vector(const BlockQ4_0& block, std::int8_t* out) {
  store_nibbles(load_nibbles(block.low), 8, out);
}
HWY_INLINE void unpack_codes_vector(const BlockQ4_1& block, std::int8_t* out) {
  store_nibbles(load_nibbles(block.low), 0, out);
}
HWY_INLINE void unpack_codes_vector(const BlockQ5_0& block, std::int8_t* out) {
  store_nibbles(load_five_bits(block), 16, out);
}
HWY_INLINE void unpack_codes_vector(const BlockQ5_1& block, std::int8_t* out) {
  store_nibbles(load_five_bits(block), 0, out);
}
HWY_INLINE void unpack_codes_vector(const BlockQ8_0& block, std::int8_t* out) {
  std::memcpy(out, block.codes, sizeof(block.codes));
}
HWY_INLINE void unpack_codes_vector(const BlockIQ4_NL& block, std::int8_t* out) {
  store_looked_up(block.low, iq4_nl_values, out);
}
HWY_INLINE void unpack_codes_vector(const BlockMXFP4& block, std::int8_t* out) {
  store_looked_up(block.low, mxfp4_values, out);
}

// --- formats of 256 elements: stretches of 32 bytes, in one or two registers ---

using RunTag = hwy::HWY_NAMESPACE::CappedTag<std::uint8_t, 32>;

template <int bits, class V>
HWY_INLINE V low_bits(V bytes) {
  return hwy::HWY_NAMESPACE::And(bytes, hwy::HWY_NAMESPACE::Set(RunTag(), static_cast<std::uint8_t>((1 << bits) - 1)));
}

// `value` where bit `bit` of a byte is set, 0 elsewhere.
template <class V>
HWY_INLINE V where_bit(V bytes, int bit, int value) {
  namespace hn = hwy::HWY_NAMESPACE;
  const RunTag d;
  const auto own = hn::Set(d, static_cast<std::uint8_t>(1 << bit));
  return hn::IfThenElseZero(hn::Eq(hn::And(bytes, own), own), hn::Set(d, static_cast<std::uint8_t>(value)));
}

HWY_INLINE void unpack_codes_vector(const BlockQ2_K& block, std::int8_t* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const RunTag d;
  for (int half = 0; half < 2; ++half, out += 128) {
    for (int l = 0; l < 32; l += static_cast<int>(hn::Lanes(d))) {
      const auto low = hn::LoadU(d, block.low + 32 * half + l);
      store_codes(d, low_bits<2>(low), 0, out + l);
      store_codes(d, low_bits<2>(hn::ShiftRight<2>(low)), 0, out + 32 + l);
      store_codes(d, low_bits<2>(hn::ShiftRight<4>(low)), 0, out + 64 + l);
      store_codes(d, hn::ShiftRight<6>(low), 0, out + 96 + l);
    }
  }
}

HWY_INLINE void unpack_codes_vector(const BlockQ3_K& block, std::int8_t* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const RunTag d;
  for (int half = 0; half < 2; ++half, out += 128) {
    for (int l = 0; l < 32; l += static_cast<int>(hn::Lanes(d))) {
      const auto low = hn::LoadU(d, block.low + 32 * half + l);
      const auto high = hn::LoadU(d, block.high + l);
      store_codes(d, hn::Or(low_bits<2>(low), where_bit(high, 4 * half, 4)), 4, out + l);
      store_codes(d, hn::Or(low_bits<2>(hn::ShiftRight<2>(low)), where_bit(high, 4 * half + 1, 4)), 4, out + 32 + l);
      store_codes(d, hn::Or(low_bits<2>(hn::ShiftRight<4>(low)), where_bit(high, 4 * half + 2, 4)), 4, out + 64 + l);
      store_codes(d, hn::Or(hn::ShiftRight<6>(low), where_bit(high, 4 * half + 3, 4)), 4, out + 96 + l);
    }
  }
}

HWY_INLINE void unpack_codes_vector(const BlockQ4_K& block, std::int8_t* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const RunTag d;
  for (int stretch = 0; stretch < 4; ++stretch, out += 64) {
    for (int l = 0; l < 32; l += static_cast<int>(hn::Lanes(d))) {
      const auto low = hn::LoadU(d, block.low + 32 * stretch + l);
      store_codes(d, low_bits<4>(low), 0, out + l);
      store_codes(d, hn::ShiftRight<4>(low), 0, out + 32 + l);
    }
  }
}

HWY_INLINE void unpack_codes_vector(const BlockQ5_K& block, std::int8_t* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const RunTag d;
  for (int stretch = 0; stretch < 4; ++stretch, out += 64) {
    for (int l = 0; l < 32; l += static_cast<int>(hn::Lanes(d))) {
      const auto low = hn::LoadU(d, block.low + 32 * stretch + l);
      const auto high = hn::LoadU(d, block.high + l);
      store_codes(d, hn::Or(low_bits<4>(low), where_bit(high, 2 * stretch, 16)), 0, out + l);
      store_codes(d, hn::Or(hn::ShiftRight<4>(low), where_bit(high, 2 * stretch + 1, 16)), 0, out + 32 + l);
    }
  }
}

HWY_INLINE void unpack_codes_vector(const BlockQ6_K& block, std::int8_t* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const RunTag d;
  for (int half = 0; half < 2; ++half, out += 128) {
    for (int l = 0; l < 32; l += static_cast<int>(hn::Lanes(d))) {
      const auto first = hn::LoadU(d, block.low + 64 * half + l);
      const auto second = hn::LoadU(d, block.low + 64 * half + 32 + l);
      const auto high = hn::LoadU(d, block.high + 32 * half + l);
      store_codes(d, hn::Or(low_bits<4>(first), hn::ShiftLeft<4>(low_bits<2>(high))), 32, out + l);
      store_codes(d, hn::Or(low_bits<4>(second), hn::ShiftLeft<4>(low_bits<2>(hn::ShiftRight<2>(high)))), 32,
                  out + 32 + l);
      store_codes(d, hn::Or(hn::ShiftRight<4>(first), hn::ShiftLeft<4>(low_bits<2>(hn::ShiftRight<4>(high)))), 32,
                  out + 64 + l);
      store_codes(d, hn::Or(hn::ShiftRight<4>(second), hn::ShiftLeft<4>(hn::ShiftRight<6>(high))), 32, out + 96 + l);
    }
  }
}

HWY_INLINE void unpack_codes_vector(const BlockIQ4_XS& block, std::int8_t* out) {
  for (int g = 0; g < 8; ++g) store_looked_up(block.low + 16 * g, iq4_nl_values, out + 32 * g);
}

template <class Block>
HWY_INLINE void unpack_block_vector(const Block& block, BlockCodes& out) {
  unpack_codes_vector(block, out.codes);
  unpack_scales(block, out);
}

// Blocks one after the other, of a format that has vectors, or of a generic one (GenericBlock).
template <class Block>
struct BlockUnpacker {
  explicit BlockUnpacker(DType) {}
  HWY_INLINE void operator()(const std::byte* blocks, std::int64_t at, BlockCodes& out) const {
    unpack_block_vector(reinterpret_cast<const Block*>(blocks)[at], out);
  }
};
template <int block_elements>
struct BlockUnpacker<GenericBlock<block_elements>> {
  DType dtype;
  std::int64_t bytes;
  explicit BlockUnpacker(DType type) : dtype(type), bytes(block_bytes(type)) {}
  HWY_INLINE void operator()(const std::byte* blocks, std::int64_t at, BlockCodes& out) const {
    unpack_generic_block(dtype, blocks + at * bytes, out);
  }
};

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
