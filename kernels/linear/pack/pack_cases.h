// Shapes: one braid of one block, several of several, no rows, empty rows.
#pragma once

#include "kernels/linear/pack/pack.h"
#include "tensor/interleaved.h"

namespace ingot {

template <class Op>
void add_pack_cases(CaseList<Op>& list, typename Op::Arguments (*make)(CaseBuilder&, DType, const Shape&)) {
  const auto make_case = [make](DType dtype, Shape shape) {
    return [make, dtype, shape](CaseBuilder& builder) { return make(builder, dtype, shape); };
  };
  for (const DType dtype : interleaved_types) {
    const std::string type(name_of(dtype));
    const std::int64_t block = block_elements(dtype);
    const auto text = [&](std::int64_t rows, std::int64_t blocks) {
      return std::to_string(rows) + " x " + std::to_string(blocks * block) + " " + type;
    };
    list.parity(text(8, 1), make_case(dtype, {8, block}));
    list.parity(text(24, 11), make_case(dtype, {24, 11 * block}));
    list.parity(text(1040, 2), make_case(dtype, {1040, 2 * block}));
    list.parity("no rows of " + type, make_case(dtype, {0, 2 * block}));
    list.parity("empty rows of " + type, make_case(dtype, {16, 0}));
    list.benchmark("4096 x 4096 " + type, make_case(dtype, {4096, 4096}));
  }
}

inline void Pack::cases(CaseList<Pack>& list) {
  add_pack_cases<Pack>(list, [](CaseBuilder& builder, DType dtype, const Shape& shape) {
    return Arguments{builder.filled_any(dtype, shape), builder.blank_any(dtype, shape, Packing::contiguous)};
  });
}

// Every byte may be anything: what is moved is not read.
inline void Unpack::cases(CaseList<Unpack>& list) {
  add_pack_cases<Unpack>(list, [](CaseBuilder& builder, DType dtype, const Shape& shape) {
    return Arguments{builder.filled_any(dtype, shape, Fill::values(), Packing::contiguous),
                     builder.blank_any(dtype, shape)};
  });
}

}  // namespace ingot
