// Scalar truth, in double.
#include "kernels/linear/sparse/two_four_matmul.h"

namespace ingot {

void two_four_matmul_reference(const TwoFourMatmul::Arguments& a, Context&) {
  for (std::int64_t m = 0; m < a.x.size(0); ++m) {
    for (std::int64_t n = 0; n < a.values.size(0); ++n) {
      double sum = is_present(a.bias) ? a.bias(n) : 0.0f;
      for (std::int64_t kept = 0; kept < a.values.size(1); ++kept) {
        const std::int64_t k = kept_column(a.positions(n, kept / 2), kept / 2, static_cast<int>(kept % 2));
        sum += double{a.x(m, k)} * a.values(n, kept);
      }
      a.y(m, n) = static_cast<float>(sum);
    }
  }
}

void two_four_matmul_backward_reference(const TwoFourMatmulBackward::Arguments& a, Context&) {
  const std::int64_t rows = a.x.size(0);
  const std::int64_t outputs = a.values.size(0);
  for (std::int64_t m = 0; is_present(a.dx) && m < rows; ++m) {
    for (std::int64_t k = 0; k < a.x.size(1); ++k) {
      double sum = 0;
      for (std::int64_t n = 0; n < outputs; ++n) {
        for (int slot = 0; slot < 2; ++slot) {
          if (kept_column(a.positions(n, k / 4), k / 4, slot) == k) {
            sum += double{a.dy(m, n)} * a.values(n, 2 * (k / 4) + slot);
          }
        }
      }
      a.dx(m, k) = static_cast<float>(sum);
    }
  }
  for (std::int64_t n = 0; n < outputs; ++n) {
    for (std::int64_t kept = 0; is_present(a.dvalues) && kept < a.values.size(1); ++kept) {
      const std::int64_t k = kept_column(a.positions(n, kept / 2), kept / 2, static_cast<int>(kept % 2));
      double sum = 0;
      for (std::int64_t m = 0; m < rows; ++m) sum += double{a.dy(m, n)} * a.x(m, k);
      a.dvalues(n, kept) = static_cast<float>(sum);
    }
    if (!is_present(a.dbias)) continue;
    double sum = 0;
    for (std::int64_t m = 0; m < rows; ++m) sum += a.dy(m, n);
    a.dbias(n) = static_cast<float>(sum);
  }
}

}  // namespace ingot
