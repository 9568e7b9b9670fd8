// Rows of a table by their indices, decoded on the way: four elements a thread.
#include "kernels/layout/gather_rows_cuda.h"

#include "kernels/device/blocks.h"
#include "kernels/device/elements.h"
#include "kernels/device/map.h"
#include "kernels/device/plane_quads.h"

namespace ingot::device {
namespace {

template <class Element>
INGOT_ON_DEVICE void read_group(const std::byte* row, unsigned at, unsigned length, bool is_aligned,
                                float (&values)[group_floats]) {
  const std::byte* const from = row + at * sizeof(Element);
  if (is_aligned) {
    Elements<Element, group_floats> elements;
    elements.load(from);
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) values[i] = to_float(elements.values[i]);
    return;
  }
  for (unsigned i = 0; i < group_floats; ++i) {
    values[i] = at + i < length ? to_float(load_unit<Element>(from + i * sizeof(Element))) : 0;
  }
}

INGOT_ON_DEVICE void read_any_group(const GatheredRows& parameters, std::int32_t index, unsigned at,
                                    float (&values)[group_floats]) {
  const unsigned length = parameters.y.length;
  if (parameters.is_planes) {
    with_plane_block(parameters.dtype, [&]<class Block>() {
      decode_plane_quad<Block>(parameters.table, length / static_cast<unsigned>(plane_depth),
                               static_cast<unsigned>(index), at, values);
    });
    return;
  }
  const std::byte* const row = parameters.table + index * parameters.table_stride;
  const bool is_aligned = parameters.is_aligned;
  switch (parameters.dtype) {
    case DType::f32: return read_group<float>(row, at, length, is_aligned, values);
    case DType::f16: return read_group<Half>(row, at, length, is_aligned, values);
    case DType::bf16: return read_group<BFloat16>(row, at, length, is_aligned, values);
    default: with_block(parameters.dtype, [&]<class Block>() { decode_quad<Block>(row, at, values); });
  }
}

}  // namespace

INGOT_DEVICE_FUNCTION(gather_table_rows, GatheredRows, 256) {
  const ThreadItems items(parameters.items);
  for (unsigned turn = 0; turn < parameters.items.turns; ++turn) {
    const ItemPlace place = items[turn];
    if (place.row >= parameters.y.count) return;
    const unsigned at = group_floats * place.number;
    float values[group_floats];
    // A pass may go on with a token that, as it turns out, could not be chosen (sampling::no_token): what is made of it
    // nobody looks at.
    const std::int32_t index = parameters.indices[place.row];
    read_any_group(parameters, index < 0 ? 0 : index, at, values);
    store_group(values, parameters.y.row(place.row), at, parameters.y.length, parameters.is_aligned);
  }
}

}  // namespace ingot::device
