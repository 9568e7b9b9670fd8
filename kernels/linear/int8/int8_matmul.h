// A product of 8-bit integers with scales and zero points: what a quantized linear layer computes.
//
//   accumulators[m,n] = sum_k (x[m,k] - x_zero[m]) (W[n,k] - weight_zero[n])            exact, in 32 bits
//   y[m,n]            = x_scale[m] weight_scale[n] accumulators[m,n] + bias[n]
//
// Scales and zero points are one number for all rows ([1]) or one a row; a zero point left out is 0.
//
// C1  x is [M, K] of i8 or u8 with packed rows, and K is at most 33025, so that 255 * 255 * K fits 32 bits
// C2  weights are [N, K] of i8 or u8 with packed rows
// C3  x_scale is [1] or [M], weight_scale [1] or [N]; x_zero and weight_zero likewise where given
// C4  every zero point lies in the range of its 8-bit type
// C5  bias, where given, is [N]; y is [M, N]; accumulators, where given, are [M, N]; all with packed rows
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

inline constexpr std::int64_t longest_int8_sum = 33025;  // 2^31 / 255^2

struct Int8Matmul {
  static constexpr std::string_view name = "linear.int8_matmul";
  static constexpr std::string_view equation =
      "y[m,n] = x_scale[m] weight_scale[n] sum_k (x[m,k] - x_zero[m]) (W[n,k] - weight_zero[n]) + bias[n]";
  static constexpr Backward backward = Backward::none("its inputs are integers; training uses linear.matmul");

  struct Arguments {
    ConstAnyView x;
    ConstAnyView weights;
    View<const float> x_scale;
    View<const float> weight_scale;
    View<const std::int32_t> x_zero;
    View<const std::int32_t> weight_zero;
    View<const float> bias;
    View<float> y;
    View<std::int32_t> accumulators;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::x, "x"), weight(&Arguments::weights, "weights"), input(&Arguments::x_scale, "x_scale"),
          weight(&Arguments::weight_scale, "weight_scale"), optional_input(&Arguments::x_zero, "x_zero"),
          optional_weight(&Arguments::weight_zero, "weight_zero"), optional_weight(&Arguments::bias, "bias"),
          output(&Arguments::y, "y"), optional_output(&Arguments::accumulators, "accumulators"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Int8Matmul>> variants();
  static void cases(CaseList<Int8Matmul>& list);
};

// The number for a row of something given once ([1]) or a row at a time.
template <class Element>
Element per_row(const View<const Element>& values, std::int64_t row) {
  if (!is_present(values)) return Element{};
  return values(values.size(0) == 1 ? 0 : row);
}

// The last step that all variants share, so that equal accumulators give equal bits.
inline void finish_int8(const Int8Matmul::Arguments& a, std::int64_t m, std::int64_t n, std::int32_t accumulator) {
  if (is_present(a.accumulators)) a.accumulators(m, n) = accumulator;
  const float scaled = static_cast<float>(accumulator) * (per_row(a.x_scale, m) * per_row(a.weight_scale, n));
  a.y(m, n) = is_present(a.bias) ? scaled + a.bias(n) : scaled;
}

void int8_matmul_reference(const Int8Matmul::Arguments& arguments, Context& context);
extern const SimdEntries<Int8Matmul> int8_matmul_simd;
extern const Variant<Int8Matmul> int8_matmul_cuda;

}  // namespace ingot
