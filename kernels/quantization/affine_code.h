// 8-bit integers with a scale and a zero point, as ONNX has them: the definition that per-tensor, per-channel and
// dynamic quantization share, on the host and on devices.
//
//   code  = saturate(round half to even(x / scale) + zero_point)
//   value = (code - zero_point) * scale
//
// Each float operation is rounded to float. Where the quotient is NaN the code is the zero point.
#pragma once

#include <cstdint>
#include <limits>

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

struct DynamicRange {
  float low = 0;
  float high = 0;
};
struct DynamicScale {
  float scale;
  std::uint8_t zero_point;
};
// What quantization.dynamic_quantize makes of the range of its data.
constexpr DynamicScale dynamic_scale(DynamicRange range) {
  float scale = (range.high - range.low) / 255;
  if (scale == 0) scale = 1;
  // 0 - low / scale is a code of zero with zero point 0, mirrored: ties go to even either way.
  return {scale, affine_code<std::uint8_t>(-range.low, scale, 0)};
}

}  // namespace ingot
