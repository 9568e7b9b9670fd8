// What launches of the device functions of caches are told.
#pragma once

#include <cstddef>

#include "kernels/device/row_groups.h"
#include "kernels/device/rows.h"
#include "kernels/device/view.h"
#include "tensor/dtype.h"

namespace ingot {

// Where the rows of a call lie in the pages (cache_view.h). A row is a head of a token.
template <class Byte>
struct DeviceCache {
  Byte* pages;
  std::int64_t page_stride, head_stride, token_stride;  // in bytes
  DeviceTensor<const std::int32_t> block_table;         // without data: sequence s is page s
  const std::int32_t* sequences;
  const std::int32_t* positions;
  std::uint32_t heads;
  std::uint32_t page_length;
  std::uint32_t wraps_at;  // a ring's capacity, or 2^31, which no position reaches

  INGOT_ON_DEVICE Byte* row(std::uint32_t index) const {
    const std::uint32_t token = index / heads;
    const auto sequence = static_cast<std::uint32_t>(sequences[token]);
    const std::uint32_t place = static_cast<std::uint32_t>(positions[token]) % wraps_at;
    if (block_table.data == nullptr) {
      return pages + sequence * page_stride + index % heads * head_stride + place * token_stride;
    }
    const std::int32_t page = block_table(sequence, place / page_length);
    return pages + page * page_stride + index % heads * head_stride + place % page_length * token_stride;
  }
};

struct CacheStoreRows {
  DeviceRows<const float> x;
  DeviceCache<std::byte> cache;
  RowGroups groups;  // of four numbers, or a block of q8_0 each
  DType dtype;
  bool is_aligned;  // rows of x, and those of the cache in f32 or f16, at multiples of 16 or 8 bytes, and whole groups
};

// Keys, and values in the blocks behind theirs.
struct JointStoreRows {
  CacheStoreRows keys;
  CacheStoreRows values;
  std::uint32_t key_blocks;
};

struct CacheReadRows {
  DeviceCache<const std::byte> cache;
  DeviceRows<float> y;
  RowGroups groups;  // of four numbers
  DType dtype;
  bool is_aligned;  // as above, for y
};

struct CopiedPages {
  std::byte* pages;
  std::int64_t page_stride, head_stride, token_stride;  // in bytes
  const std::int32_t* source;
  const std::int32_t* destination;
  std::uint32_t heads;
  std::uint32_t stretches;  // of a head: its tokens, or 1 where nothing lies between them
  std::uint32_t unit;       // bytes that are moved at a time: 16, 4 or 1
  RowGroups groups;         // a unit each, of the stretches of all pages
};

}  // namespace ingot
