#include "kernels/quantization/quantize_activations.h"

#include "kernels/contract/describe.h"
#include "kernels/quantization/quantize_activations_cases.h"
#include "tensor/block_codes.h"

namespace ingot {

Result<void> QuantizeActivations::check(const Arguments& a) {
  if (a.block != 32 && a.block != 256) return violated(name, "C1", "expected a block of 32 or 256, found ", a.block);
  TRY(require_rank_between(name, "C2", "x", a.x, 1, max_rank));
  Shape shape = a.x.shape();
  const std::int64_t length = shape.last();
  if (length % a.block != 0) {
    return violated(name, "C2", "expected a last axis of a multiple of ", a.block, ", found x ", shape);
  }
  TRY(require_shape(name, "C3", "codes", a.codes, shape));
  shape[shape.rank() - 1] = length / a.block;
  TRY(require_shape(name, "C4", "scales", a.scales, shape));
  shape[shape.rank() - 1] = length / code_group;
  if (is_present(a.sums)) {
    TRY(require_shape(name, "C5", "sums", a.sums, shape));
    TRY(require_contiguous_rows(name, "C6", "sums", a.sums));
  }
  TRY(require_contiguous_rows(name, "C6", "x", a.x));
  TRY(require_contiguous_rows(name, "C6", "codes", a.codes));
  TRY(require_contiguous_rows(name, "C6", "scales", a.scales));
  return {};
}

Cost QuantizeActivations::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  const double sums = is_present(a.sums) ? static_cast<double>(a.sums.count()) : 0;
  return {.operations = 4 * count,
          .bytes_read = 4 * count,
          .bytes_written = count + 4 * static_cast<double>(a.scales.count()) + 4 * sums};
}

Tolerance QuantizeActivations::tolerance(const Arguments&) {
  return Tolerance::exact("integer sums of products agree only where codes do");
}

std::span<const Variant<QuantizeActivations>> QuantizeActivations::variants() {
  static const Variant<QuantizeActivations> table[] = {
      quantize_activations_cuda,
      INGOT_SIMD_ROWS(quantize_activations_simd),
      {"reference", {}, quantize_activations_reference},
  };
  return table;
}

template const Operation& describe_operation<QuantizeActivations>();

}  // namespace ingot
