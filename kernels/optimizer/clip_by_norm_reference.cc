// Scalar truth.
#include "kernels/optimizer/clip_by_norm.h"
#include "tensor/rows.h"

namespace ingot {

void clip_by_norm_reference(const ClipByNorm::Arguments& a, Context&) {
  const Rows x(a.x);
  const double factor = clip_factor(a);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t i = 0; i < x.length(); ++i) x[row][i] = static_cast<float>(factor * x[row][i]);
  }
}

}  // namespace ingot
