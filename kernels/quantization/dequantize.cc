#include "kernels/quantization/dequantize.h"

#include "kernels/contract/describe.h"
#include "kernels/quantization/block_format_checks.h"
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/dequantize_cases.h"

namespace ingot {

Result<void> Dequantize::check(const Arguments& a) {
  TRY(require_rank_between(name, "C1", "blocks", a.blocks, 1, max_rank));
  TRY(require_block_format(name, "C1", "blocks", a.blocks));
  TRY(require_shape(name, "C2", "y", a.y, a.blocks.shape()));
  TRY(require_contiguous_rows(name, "C3", "blocks", a.blocks));
  TRY(require_contiguous_rows(name, "C3", "y", a.y));
  return {};
}

Cost Dequantize::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.y.count());
  return {.operations = 2 * count, .bytes_read = stored_bytes(a.blocks), .bytes_written = 4 * count};
}

Tolerance Dequantize::tolerance(const Arguments&) {
  return Tolerance::exact("the value of a block is defined operation by operation");
}

std::span<const Variant<Dequantize>> Dequantize::variants() {
  static const Variant<Dequantize> table[] = {
      dequantize_cuda,
      INGOT_SIMD_ROWS(dequantize_simd),
      {"reference", {}, dequantize_reference},
  };
  return table;
}

template const Operation& describe_operation<Dequantize>();

}  // namespace ingot
