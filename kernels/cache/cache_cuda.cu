#include "kernels/cache/cache_cuda.h"

#include "kernels/cache/store_device.h"
#include "kernels/device/blocks.h"

namespace ingot::device {
namespace {

INGOT_ON_DEVICE void store_rows(const CacheStoreRows& parameters, std::uint32_t launched_block) {
  parameters.groups.visit(launched_block, thread_index(),
                          [&](std::uint32_t row, std::uint32_t group) { store_part(parameters, row, group); });
}

}  // namespace

INGOT_DEVICE_FUNCTION(cache_store_rows, CacheStoreRows, 256) { store_rows(parameters, block_index()); }

INGOT_DEVICE_FUNCTION(joint_store_rows, JointStoreRows, 256) {
  if (block_index() < parameters.key_blocks) {
    store_rows(parameters.keys, block_index());
  } else {
    store_rows(parameters.values, block_index() - parameters.key_blocks);
  }
}

INGOT_DEVICE_FUNCTION(cache_read_rows, CacheReadRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    const std::uint32_t at = group_floats * group;
    const std::uint32_t length = parameters.y.length;
    const std::byte* const stored = parameters.cache.row(row);
    float values[group_floats];
    if (parameters.dtype == DType::q8_0) {
      decode_quad<BlockQ8_0>(stored, at, values);
    } else if (parameters.dtype == DType::f16) {
      load_halves(values, reinterpret_cast<const Half*>(stored), at, length, parameters.is_aligned);
    } else {
      load_group(values, reinterpret_cast<const float*>(stored), at, length, parameters.is_aligned);
    }
    store_group(values, parameters.y.row(row), at, length, parameters.is_aligned);
  });
}

INGOT_DEVICE_FUNCTION(copy_pages, CopiedPages, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    const std::uint32_t head = row / parameters.stretches % parameters.heads;
    const std::uint32_t pair = row / parameters.stretches / parameters.heads;
    std::byte* const begin = parameters.pages + head * parameters.head_stride +
                             row % parameters.stretches * parameters.token_stride +
                             std::uint64_t{group} * parameters.unit;
    const std::byte* const from = begin + parameters.source[pair] * parameters.page_stride;
    std::byte* const to = begin + parameters.destination[pair] * parameters.page_stride;
    if (parameters.unit == 16) {
      store16(to, load16(from));
    } else if (parameters.unit == 4) {
      *reinterpret_cast<std::uint32_t*>(to) = *reinterpret_cast<const std::uint32_t*>(from);
    } else {
      *to = *from;
    }
  });
}

}  // namespace ingot::device
