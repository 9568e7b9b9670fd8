#include "tensor/block_codes.h"

#include "tensor/block_formats.h"
#include "tensor/block_scales.h"
#include "tensor/generic_codes.h"

namespace ingot {
namespace {

// Elements j and j + 16 share byte j; `code(nibble, element)` makes the integer.
template <class Code>
void unpack_nibbles_32(const std::uint8_t (&low)[16], BlockCodes& out, Code&& code) {
  for (int j = 0; j < 16; ++j) {
    out.codes[j] = static_cast<std::int8_t>(code(low[j] & 15, j));
    out.codes[j + 16] = static_cast<std::int8_t>(code(low[j] >> 4, j + 16));
  }
}

int fifth_bit(const std::uint8_t (&high)[4], int element) { return (high[element / 8] >> element % 8 & 1) << 4; }

void unpack_codes(const BlockQ4_0& block, BlockCodes& out) {
  unpack_nibbles_32(block.low, out, [](int nibble, int) { return nibble - 8; });
}
void unpack_codes(const BlockQ4_1& block, BlockCodes& out) {
  unpack_nibbles_32(block.low, out, [](int nibble, int) { return nibble; });
}
void unpack_codes(const BlockQ5_0& block, BlockCodes& out) {
  unpack_nibbles_32(block.low, out, [&](int nibble, int j) { return (nibble | fifth_bit(block.high, j)) - 16; });
}
void unpack_codes(const BlockQ5_1& block, BlockCodes& out) {
  unpack_nibbles_32(block.low, out, [&](int nibble, int j) { return nibble | fifth_bit(block.high, j); });
}
void unpack_codes(const BlockQ8_0& block, BlockCodes& out) {
  for (int j = 0; j < 32; ++j) out.codes[j] = block.codes[j];
}
void unpack_codes(const BlockIQ4_NL& block, BlockCodes& out) {
  unpack_nibbles_32(block.low, out, [](int nibble, int) { return iq4_nl_values[nibble]; });
}
void unpack_codes(const BlockMXFP4& block, BlockCodes& out) {
  unpack_nibbles_32(block.low, out, [](int nibble, int) { return mxfp4_values[nibble]; });
}

// The two low bits of element i in q2_k and q3_k.
int two_bits(const std::uint8_t (&low)[64], int i) { return low[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3; }
// The low four bits of element i in q4_k and q5_k.
int four_bits(const std::uint8_t (&low)[128], int i) { return low[i / 64 * 32 + i % 32] >> i % 64 / 32 * 4 & 15; }
// The one high bit of element i in q3_k and q5_k.
int high_bit(const std::uint8_t (&high)[32], int i) { return high[i % 32] >> i / 32 & 1; }

void unpack_codes(const BlockQ2_K& block, BlockCodes& out) {
  for (int i = 0; i < 256; ++i) out.codes[i] = static_cast<std::int8_t>(two_bits(block.low, i));
}
void unpack_codes(const BlockQ3_K& block, BlockCodes& out) {
  for (int i = 0; i < 256; ++i) {
    out.codes[i] = static_cast<std::int8_t>((two_bits(block.low, i) | high_bit(block.high, i) << 2) - 4);
  }
}
void unpack_codes(const BlockQ4_K& block, BlockCodes& out) {
  for (int i = 0; i < 256; ++i) out.codes[i] = static_cast<std::int8_t>(four_bits(block.low, i));
}
void unpack_codes(const BlockQ5_K& block, BlockCodes& out) {
  for (int i = 0; i < 256; ++i) {
    out.codes[i] = static_cast<std::int8_t>(four_bits(block.low, i) | high_bit(block.high, i) << 4);
  }
}
void unpack_codes(const BlockIQ4_XS& block, BlockCodes& out) {
  for (int i = 0; i < 256; ++i) {
    out.codes[i] = iq4_nl_values[block.low[i / 32 * 16 + i % 16] >> i % 32 / 16 * 4 & 15];
  }
}
void unpack_codes(const BlockQ6_K& block, BlockCodes& out) {
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128;
    const int low = block.low[half * 64 + i % 64] >> i % 128 / 64 * 4 & 15;
    const int high = block.high[half * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    out.codes[i] = static_cast<std::int8_t>((low | high << 4) - 32);
  }
}

}  // namespace

void unpack_block(DType dtype, const std::byte* block, BlockCodes& codes) {
  if (is_generic_format(dtype)) return unpack_generic_block(dtype, block, codes);
  with_block_type(dtype, [&]<class Block>() {
    unpack_codes(*reinterpret_cast<const Block*>(block), codes);
    unpack_scales(*reinterpret_cast<const Block*>(block), codes);
  });
}

}  // namespace ingot
