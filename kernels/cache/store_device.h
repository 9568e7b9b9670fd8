// How numbers of a row come into a cache on a device: four of them, or a block of q8_0.
#pragma once

#include "kernels/cache/cache_cuda.h"
#include "kernels/device/block_encode.h"
#include "kernels/device/half_groups.h"

namespace ingot::device {

INGOT_ON_DEVICE void store_block(const CacheStoreRows& parameters, std::uint32_t row, std::uint32_t block) {
  float values[encoded_elements];
  load_block(values, parameters.x.row(row), block, parameters.x.length, parameters.is_aligned);
  encode_block(values, reinterpret_cast<BlockQ8_0*>(parameters.cache.row(row))[block]);
}

INGOT_ON_DEVICE void store_part(const CacheStoreRows& parameters, std::uint32_t row, std::uint32_t part) {
  if (parameters.dtype == DType::q8_0) return store_block(parameters, row, part);
  const std::uint32_t at = group_floats * part;
  const std::uint32_t length = parameters.x.length;
  float values[group_floats];
  load_group(values, parameters.x.row(row), at, length, parameters.is_aligned);
  std::byte* const stored = parameters.cache.row(row);
  if (parameters.dtype == DType::f16) {
    store_halves(values, reinterpret_cast<Half*>(stored), at, length, parameters.is_aligned);
  } else {
    store_group(values, reinterpret_cast<float*>(stored), at, length, parameters.is_aligned);
  }
}

}  // namespace ingot::device
