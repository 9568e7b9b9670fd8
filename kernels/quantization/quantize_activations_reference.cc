#include "kernels/quantization/quantize_activations.h"
#include "kernels/vector/activation_codes.h"
#include "tensor/block_codes.h"
#include "tensor/rows.h"

namespace ingot {

void quantize_activations_reference(const QuantizeActivations::Arguments& arguments, Context&) {
  const Rows x(arguments.x);
  const Rows codes(arguments.codes);
  const Rows scales(arguments.scales);
  const std::int64_t blocks = x.length() / arguments.block;
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t first = b * arguments.block;
      scales[row][b] = encode_activations(x[row] + first, arguments.block, codes[row] + first);
    }
  }
  if (!is_present(arguments.sums)) return;
  const Rows sums(arguments.sums);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t group = 0; group < sums.length(); ++group) {
      std::int32_t sum = 0;
      for (int i = 0; i < code_group; ++i) sum += codes[row][group * code_group + i];
      sums[row][group] = sum;
    }
  }
}

}  // namespace ingot
