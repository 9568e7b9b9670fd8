// Shapes: one tile of one block, several of several, no rows, empty rows; both layouts.
#pragma once

#include "kernels/linear/pack/pack.h"
#include "tensor/planes.h"

namespace ingot {

struct PackCase {
  DType dtype;
  WeightLayout layout;
  Shape shape;
};

template <class Op>
void add_pack_cases(CaseList<Op>& list, typename Op::Arguments (*make)(CaseBuilder&, const PackCase&)) {
  const auto make_case = [make](DType dtype, WeightLayout layout, Shape shape) {
    return [make, one = PackCase{dtype, layout, shape}](CaseBuilder& builder) { return make(builder, one); };
  };
  const auto add = [&](DType dtype, WeightLayout layout) {
    const bool is_planes = layout == WeightLayout::planes16;
    const std::string type = std::string(name_of(dtype)) + (is_planes ? " as planes" : "");
    const std::int64_t block = is_planes ? plane_depth : block_elements(dtype);
    const std::int64_t rows = is_planes ? plane_rows : interleaved_rows;
    const auto text = [&](std::int64_t tiles, std::int64_t blocks) {
      return std::to_string(tiles * rows) + " x " + std::to_string(blocks * block) + " " + type;
    };
    list.parity(text(1, 1), make_case(dtype, layout, {rows, block}));
    list.parity(text(3, 11), make_case(dtype, layout, {3 * rows, 11 * block}));
    if (!is_planes) list.parity(text(130, 2), make_case(dtype, layout, {130 * rows, 2 * block}));
    list.parity("no rows of " + type, make_case(dtype, layout, {0, 2 * block}));
    list.parity("empty rows of " + type, make_case(dtype, layout, {16, 0}));
    list.benchmark("4096 x 4096 " + type, make_case(dtype, layout, {4096, 4096}));
  };
  for (const DType dtype : interleaved_types) add(dtype, WeightLayout::interleaved8);
  for (const DType dtype : plane_types) add(dtype, WeightLayout::planes16);
}

inline void Pack::cases(CaseList<Pack>& list) {
  add_pack_cases<Pack>(list, [](CaseBuilder& builder, const PackCase& one) {
    return Arguments{builder.filled_any(one.dtype, one.shape), one.layout,
                     builder.blank_any(one.dtype, one.shape, Packing::contiguous)};
  });
}

// Every byte may be anything: what is moved is not read.
inline void Unpack::cases(CaseList<Unpack>& list) {
  add_pack_cases<Unpack>(list, [](CaseBuilder& builder, const PackCase& one) {
    return Arguments{builder.filled_any(one.dtype, one.shape, Fill::values(), Packing::contiguous), one.layout,
                     builder.blank_any(one.dtype, one.shape)};
  });
}

}  // namespace ingot
