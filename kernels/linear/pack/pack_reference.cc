// Scalar truth: where each bit goes, by the definitions of the formats (tensor/block_formats.h) and of the layout
// (tensor/interleaved.h; for planes tensor/planes.cc says it).
#include "kernels/linear/pack/pack.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

struct BitPlace {
  std::int64_t byte;
  std::int64_t bit;
};

// function(place in a row's block, place in the eight blocks that stand together) for all bits of a row.
template <class Function>
struct BlockBits {
  std::int64_t lane;
  Function function;

  void bytes(std::int64_t count, std::int64_t in_block, std::int64_t in_eight) {
    for (std::int64_t bit = 0; bit < 8 * count; ++bit) {
      function(BitPlace{in_block + bit / 8, bit % 8}, BitPlace{in_eight + bit / 8, bit % 8});
    }
  }
  // A byte of four elements each, row by row; `quad` counts from the byte `first`.
  BitPlace in_quad(std::int64_t first, std::int64_t quad, std::int64_t element, std::int64_t bit) const {
    return {first + 32 * quad + 4 * lane + element % 4, bit};
  }
  // Number 3 of four 6-bit numbers stands above the others, two bits each.
  static BitPlace in_sixes(std::int64_t number, std::int64_t bit) {
    return number < 3 ? BitPlace{number, bit} : BitPlace{bit / 2, 6 + bit % 2};
  }

  // So many bytes of each row at a time.
  void moved_bytes(std::int64_t together, std::int64_t count, std::int64_t in_block, std::int64_t in_eight) {
    for (std::int64_t at = 0; at < count; at += together) {
      bytes(together, in_block + at, in_eight + interleaved_rows * at + together * lane);
    }
  }

  void q5_0() {
    constexpr BitPlace upper[3][5] = {{{0, 5}, {0, 6}, {0, 7}, {1, 6}, {1, 7}},
                                      {{3, 5}, {1, 5}, {2, 5}, {2, 6}, {2, 7}},
                                      {{4, 5}, {4, 6}, {4, 7}, {3, 6}, {3, 7}}};
    bytes(2, 0, 2 * lane);
    for (std::int64_t k = 0; k < 32; ++k) {
      for (std::int64_t bit = 0; bit < 5; ++bit) {
        const BitPlace stored = bit < 4 ? BitPlace{6 + k % 16, k / 16 * 4 + bit} : BitPlace{2 + k / 8, k % 8};
        const BitPlace place = k < 20 ? BitPlace{k / 4, bit} : upper[k / 4 - 5][bit];
        function(stored, in_quad(16, place.byte, k, place.bit));
      }
    }
  }

  void q4_k() {
    bytes(2, 0, 2 * lane);
    bytes(2, 2, 16 + 2 * lane);
    for (std::int64_t g = 0; g < 8; ++g) {
      for (std::int64_t bit = 0; bit < 6; ++bit) {
        const std::int64_t upper = bit + 2;  // the place of bits 4 and 5 of groups 4 to 7
        const BitPlace scale = g < 4 ? BitPlace{g, bit} : bit < 4 ? BitPlace{g + 4, bit} : BitPlace{g - 4, upper};
        const BitPlace minimum = g < 4 ? BitPlace{g + 4, bit} : bit < 4 ? BitPlace{g + 4, bit + 4} : BitPlace{g, upper};
        const BitPlace to_scale = in_sixes(g / 2, bit);
        const BitPlace to_minimum = in_sixes(g / 4 * 2 + lane / 4, bit);
        function(BitPlace{4 + scale.byte, scale.bit},
                 BitPlace{32 + 16 * to_scale.byte + g % 2 * 8 + lane, to_scale.bit});
        function(BitPlace{4 + minimum.byte, minimum.bit},
                 BitPlace{80 + 16 * to_minimum.byte + lane % 4 * 4 + g % 4, to_minimum.bit});
      }
    }
    moved_bytes(8, 128, 16, 128);
  }

  void q6_k() {
    bytes(2, 208, 2 * lane);
    for (std::int64_t g = 0; g < 16; ++g) bytes(1, 192 + g, 16 + 8 * g + lane);
    for (std::int64_t k = 0; k < 256; ++k) {
      const std::int64_t half = k / 128, within = k % 128;
      for (std::int64_t bit = 0; bit < 6; ++bit) {
        const BitPlace stored = bit < 4 ? BitPlace{64 * half + within % 64, within / 64 * 4 + bit}
                                        : BitPlace{128 + 32 * half + within % 32, within / 32 * 2 + bit - 4};
        const BitPlace place = in_sixes(k % 16 / 4, bit);
        function(stored, in_quad(144, k / 16 * 3 + place.byte, k, place.bit));
      }
    }
  }

  void all(DType dtype) {
    switch (dtype) {
      case DType::q5_0: return q5_0();
      case DType::q4_k: return q4_k();
      case DType::q6_k: return q6_k();
      default: bytes(2, 0, 2 * lane); return moved_bytes(4, block_bytes(dtype) - 2, 2, 16);
    }
  }
};

void copy_bit(const std::byte* from, BitPlace at, std::byte* to, BitPlace place) {
  const bool is_set = (std::to_integer<int>(from[at.byte]) >> at.bit & 1) != 0;
  const std::byte mask{static_cast<std::uint8_t>(1 << place.bit)};
  to[place.byte] = is_set ? to[place.byte] | mask : to[place.byte] & ~mask;
}

// function(the row's block, the eight blocks that it belongs to, a bit's place in each), for a row.
template <class Function>
void for_each_bit(DType dtype, std::int64_t row, std::int64_t depth, Function function) {
  const std::int64_t block = block_bytes(dtype), blocks = depth / block_elements(dtype);
  const std::int64_t lane = row % interleaved_rows;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t eight = (row - lane) * blocks * block + b * interleaved_rows * block;
    auto one = [&](BitPlace in_block, BitPlace in_eight) { function(b * block, eight, in_block, in_eight); };
    BlockBits<decltype(one)>{lane, one}.all(dtype);
  }
}

}  // namespace

void pack_reference(const Pack::Arguments& a, Context&) {
  if (a.layout == WeightLayout::planes16) return lay_planes(a.rows, 0, a.rows.size(0), a.packed);
  for (std::int64_t row = 0; row < a.rows.size(0); ++row) {
    for_each_bit(a.rows.dtype(), row, a.rows.size(1),
                 [&](std::int64_t block, std::int64_t eight, BitPlace in_block, BitPlace in_eight) {
                   copy_bit(a.rows.row(row) + block, in_block, a.packed.data() + eight, in_eight);
                 });
  }
}

void unpack_reference(const Unpack::Arguments& a, Context&) {
  for (std::int64_t row = 0; row < a.rows.size(0); ++row) {
    if (a.layout == WeightLayout::planes16) {
      gather_row(a.layout, a.packed, row, a.rows.row(row));
      continue;
    }
    for_each_bit(a.rows.dtype(), row, a.rows.size(1),
                 [&](std::int64_t block, std::int64_t eight, BitPlace in_block, BitPlace in_eight) {
                   copy_bit(a.packed.data() + eight, in_eight, a.rows.row(row) + block, in_block);
                 });
  }
}

}  // namespace ingot
