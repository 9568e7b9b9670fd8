#include <numeric>
#include <vector>

#include "kernels/norm/coded_rms_norm.h"
#include "kernels/norm/residual_rms_norm.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/vector/activation_codes.h"
#include "tensor/block_codes.h"
#include "tensor/rows.h"

namespace ingot {

void coded_rms_norm_reference(const CodedRmsNorm::Arguments& a, Context& context) {
  std::vector<float> made(static_cast<std::size_t>(a.x.count()));
  const View<float> y(made.data(), a.x.shape());
  if (is_present(a.residual)) {
    residual_rms_norm_reference(
        {.x = a.x, .residual = a.residual, .gamma = a.gamma, .epsilon = a.epsilon, .sum = a.sum, .y = y, .rstd = {}},
        context);
  } else {
    RmsNorm::Arguments norm;
    norm.x = a.x;
    norm.gamma = a.gamma;
    norm.epsilon = a.epsilon;
    norm.y = y;
    rms_norm_reference(norm, context);
  }
  const Rows values(y);
  const Rows codes(a.codes);
  const Rows scales(a.scales);
  const Rows sums(a.sums);
  for (std::int64_t row = 0; row < values.count(); ++row) {
    for (std::int64_t at = 0; at < values.length(); at += a.block) {
      scales[row][at / a.block] = encode_activations(values[row] + at, a.block, codes[row] + at);
    }
    for (std::int64_t at = 0; at < values.length(); at += code_group) {
      sums[row][at / code_group] = std::accumulate(codes[row] + at, codes[row] + at + code_group, 0);
    }
  }
}

}  // namespace ingot
