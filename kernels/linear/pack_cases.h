// Shapes: one group of one block, several of several, no rows, empty rows.
#pragma once

#include "kernels/linear/pack.h"

namespace ingot {

template <class Op>
void add_pack_cases(CaseList<Op>& list, typename Op::Arguments (*make)(CaseBuilder&, DType, const Shape&)) {
  const auto make_case = [make](DType dtype, Shape shape) {
    return [make, dtype, shape](CaseBuilder& builder) { return make(builder, dtype, shape); };
  };
  for (const DType dtype : {DType::q4_0, DType::q8_0}) {
    const std::string type(name_of(dtype));
    list.parity("8 x 32 " + type, make_case(dtype, {8, 32}));
    list.parity("24 x 352 " + type, make_case(dtype, {24, 352}));
    list.parity("1040 x 64 " + type, make_case(dtype, {1040, 64}));
    list.parity("no rows of " + type, make_case(dtype, {0, 64}));
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
