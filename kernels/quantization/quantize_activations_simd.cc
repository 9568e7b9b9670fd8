#include "kernels/quantization/quantize_activations.h"
#include "kernels/vector/activation_codes.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/block_codes.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantization/quantize_activations_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/activation_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void quantize_activations(const QuantizeActivations::Arguments& arguments, Context& context) {
  const Rows x(arguments.x);
  const Rows codes(arguments.codes);
  const Rows scales(arguments.scales);
  const bool wants_sums = is_present(arguments.sums);
  const View<std::int32_t> one_row(nullptr, Shape{0});  // stands in where no sums are asked for
  const Rows sums(wants_sums ? arguments.sums : one_row);
  const std::int64_t blocks = scales.length();
  const int block = arguments.block;
  context.workers.for_chunks(x.count(), rows_per_chunk(5 * x.length()), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t b = 0; b < blocks; ++b) {
        std::int32_t* block_sums = wants_sums ? sums[row] + b * (block / code_group) : nullptr;
        scales[row][b] = encode_activations_vector(x[row] + b * block, block, codes[row] + b * block, block_sums);
      }
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<QuantizeActivations> quantize_activations_simd = INGOT_SIMD_ENTRIES(quantize_activations);
}  // namespace ingot
#endif
