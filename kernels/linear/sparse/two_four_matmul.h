// A product with 2:4 sparse weights: of every four neighbours in a row at most two are kept, so half the bytes move.
//
//   W[n, 4g + p] = values[n, 2g]      where p = positions[n, g] mod 4
//                = values[n, 2g + 1]  where p = (positions[n, g] / 4) mod 4,   0 elsewhere
//   y[m,n] = sum_k x[m,k] W[n,k] + bias[n]
//
// C1  x is [M, K] with packed rows, K a multiple of 4
// C2  values are [N, K/2], positions [N, K/4], both with packed rows
// C3  the two positions of four elements differ, the first is the lower, and no higher bit is set
// C4  bias, where given, is [N]; y is [M, N]; both with packed rows
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct TwoFourMatmul {
  static constexpr std::string_view name = "linear.two_four_matmul";
  static constexpr std::string_view equation = "y[m,n] = sum_k x[m,k] W[n,k] + bias[n], two of every four W[n,k] kept";
  static constexpr Backward backward = Backward::by("linear.two_four_matmul_backward");

  struct Arguments {
    View<const float> x;
    View<const float> values;
    View<const std::uint8_t> positions;
    View<const float> bias;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::values, "values"),
                        weight(&Arguments::positions, "positions"), optional_weight(&Arguments::bias, "bias"),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<TwoFourMatmul>> variants();
  static void cases(CaseList<TwoFourMatmul>& list);
};

void two_four_matmul_reference(const TwoFourMatmul::Arguments& arguments, Context& context);
extern const SimdEntries<TwoFourMatmul> two_four_matmul_simd;
extern const Variant<TwoFourMatmul> two_four_matmul_cuda;

// dx = dy W;  dvalues = the kept elements of dy^T x;  dbias[n] = sum_m dy[m,n]
// C1 to C3 as the forward; C4: dy is [M, N]; gradients, where given, have the shape of what they are gradients of.
struct TwoFourMatmulBackward {
  static constexpr std::string_view name = "linear.two_four_matmul_backward";
  static constexpr std::string_view equation = "dx = dy W, dvalues = kept elements of dy^T x, dbias[n] = sum_m dy[m,n]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const float> values;
    View<const std::uint8_t> positions;
    View<const float> dy;
    View<float> dx;
    View<float> dvalues;
    View<float> dbias;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::values, "values"),
                        weight(&Arguments::positions, "positions"), input(&Arguments::dy, "dy"),
                        optional_output(&Arguments::dx, "dx"), optional_output(&Arguments::dvalues, "dvalues"),
                        optional_output(&Arguments::dbias, "dbias"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<TwoFourMatmulBackward>> variants();
  static void cases(CaseList<TwoFourMatmulBackward>& list);
};

void two_four_matmul_backward_reference(const TwoFourMatmulBackward::Arguments& arguments, Context& context);

// The column of the slot-th (0 or 1) kept element of four neighbours, the `four`-th of their row.
inline std::int64_t kept_column(std::uint8_t positions, std::int64_t four, int slot) {
  return 4 * four + ((positions >> (2 * slot)) & 3);
}

}  // namespace ingot
