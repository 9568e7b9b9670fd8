// Blocks of generic formats as integers (block_codes.h).
#pragma once

#include <cstddef>

#include "tensor/block_scales.h"

namespace ingot {

// What loops over blocks have in the place of a format's struct.
template <int block_elements>
struct GenericBlock {
  static constexpr int elements = block_elements, group = code_group;
};

// with_block_type for all block formats, generic ones as GenericBlock. Precondition: is_block_format(dtype).
template <class Function>
constexpr decltype(auto) with_any_block_type(DType dtype, Function&& function) {
  if (!is_generic_format(dtype)) return with_block_type(dtype, function);
  if (block_elements(dtype) == 64) return function.template operator()<GenericBlock<64>>();
  return function.template operator()<GenericBlock<256>>();
}

// Precondition: is_generic_format(dtype).
void unpack_generic_block(DType dtype, const std::byte* block, BlockCodes& codes);

}  // namespace ingot
