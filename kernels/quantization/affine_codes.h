// What the operations on affine codes (affine_code.h) share besides their definition: types, zero points, checks.
#pragma once

#include "kernels/contract/constraints.h"
#include "kernels/quantization/affine_code.h"

namespace ingot {

// A zero point that was left out is 0. The view has the codes' type.
template <class Code>
int zero_point_at(const ConstAnyView& zero_points, std::int64_t index) {
  return is_present(zero_points) ? reinterpret_cast<const Code*>(zero_points.data())[index] : 0;
}

// Calls function.template operator()<Code>() with std::int8_t or std::uint8_t.
template <class Function>
decltype(auto) with_code_type(DType dtype, Function&& function) {
  if (dtype == DType::i8) return function.template operator()<std::int8_t>();
  return function.template operator()<std::uint8_t>();
}

// Codes are i8 or u8, and a zero point that is given has their type.
inline Result<void> require_code_types(std::string_view operation, std::string_view number, std::string_view field,
                                       const ConstAnyView& codes, const ConstAnyView& zero_point) {
  TRY(require_dtype(operation, number, field, codes, {DType::i8, DType::u8}));
  if (!is_present(zero_point)) return {};
  return require_dtype(operation, number, "zero_point", zero_point, {codes.dtype()});
}

}  // namespace ingot
