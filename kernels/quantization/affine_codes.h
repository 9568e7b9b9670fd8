// 8-bit integers with a scale and a zero point, as ONNX has them: the definition that per-tensor, per-channel and
// dynamic quantization share.
//
//   code  = saturate(round half to even(x / scale) + zero_point)
//   value = (code - zero_point) * scale
//
// Each float operation is rounded to float. Where the quotient is NaN the code is the zero point.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/contract/constraints.h"

namespace ingot {

// Quotients beyond this saturate whatever the zero point is, and below it conversion to an integer is safe.
inline constexpr float largest_quotient = 1024;

template <class Code>
constexpr Code affine_code(float x, float scale, int zero_point) {
  float quotient = x / scale;
  if (!(quotient > -largest_quotient)) quotient = quotient != quotient ? 0 : -largest_quotient;
  if (quotient > largest_quotient) quotient = largest_quotient;
  // 1.5 * 2^23 leaves no fraction bits, so the addition itself rounds, half to even.
  constexpr float shift = 0x1.8p23f;
  const int code = static_cast<int>((quotient + shift) - shift) + zero_point;
  constexpr int lowest = std::numeric_limits<Code>::min();
  constexpr int highest = std::numeric_limits<Code>::max();
  return static_cast<Code>(code < lowest ? lowest : code > highest ? highest : code);
}

template <class Code>
constexpr float affine_value(Code code, float scale, int zero_point) {
  return static_cast<float>(code - zero_point) * scale;
}

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
