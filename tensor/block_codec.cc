#include "tensor/block_codec.h"

#include <cstring>

#include "tensor/block_codes.h"
#include "tensor/block_encode.h"
#include "tensor/block_scales.h"

namespace ingot {
namespace {

void encode_blocks(DType dtype, const float* values, std::byte* blocks, std::int64_t count) {
  const auto encode = [&]<class Block>() {
    for (std::int64_t i = 0; i < count; i += Block::elements, blocks += sizeof(Block)) {
      encode_block(values + i, *reinterpret_cast<Block*>(blocks));
    }
  };
  switch (dtype) {
    case DType::tq2_0: return encode.template operator()<BlockTQ2_0>();
    case DType::tq1_0: return encode.template operator()<BlockTQ1_0>();
    default: return with_block_type(dtype, encode);  // which stops at a format without an encoder
  }
}

void decode_blocks(DType dtype, const std::byte* blocks, float* values, std::int64_t count) {
  const int elements = block_elements(dtype);
  BlockCodes block;
  for (std::int64_t i = 0; i < count; i += elements, blocks += block_bytes(dtype)) {
    unpack_block(dtype, blocks, block);
    for (int j = 0; j < elements; ++j) {
      const int group = j / code_group;
      values[i + j] = block.scales[group] * static_cast<float>(block.codes[j]) - block.minimums[group];
    }
  }
}

}  // namespace

void decode_row(DType dtype, const std::byte* blocks, float* values, std::int64_t count) {
  if (is_block_format(dtype)) return decode_blocks(dtype, blocks, values, count);
  with_element_type(dtype, [&]<class Element>() {
    for (std::int64_t i = 0; i < count; ++i) {
      Element element;
      std::memcpy(&element, blocks + i * static_cast<std::int64_t>(sizeof(Element)), sizeof(Element));
      values[i] = static_cast<float>(element);
    }
  });
}

void encode_row(DType dtype, const float* values, std::byte* blocks, std::int64_t count) {
  if (is_block_format(dtype)) return encode_blocks(dtype, values, blocks, count);
  with_element_type(dtype, [&]<class Element>() {
    if constexpr (std::is_integral_v<Element>) {
      __builtin_trap();  // the precondition: integers are not a rounding of floats
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        const Element element = Element(values[i]);
        std::memcpy(blocks + i * static_cast<std::int64_t>(sizeof(Element)), &element, sizeof(Element));
      }
    }
  });
}

}  // namespace ingot
