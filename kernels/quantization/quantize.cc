#include "kernels/quantization/quantize.h"

#include "kernels/contract/describe.h"
#include "kernels/quantization/block_format_checks.h"
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/quantize_cases.h"

namespace ingot {

Result<void> Quantize::check(const Arguments& a) {
  TRY(require_rank_between(name, "C1", "x", a.x, 1, max_rank));
  TRY(require_shape(name, "C2", "blocks", a.blocks, a.x.shape()));
  TRY(require_block_format(name, "C2", "blocks", a.blocks));
  if (!has_encoder(a.blocks.dtype())) {
    return violated(name, "C2", "expected a format that has an encoder, found ", a.blocks.dtype());
  }
  TRY(require_contiguous_rows(name, "C3", "x", a.x));
  TRY(require_contiguous_rows(name, "C3", "blocks", a.blocks));
  return {};
}

Cost Quantize::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 4 * count, .bytes_read = 4 * count, .bytes_written = stored_bytes(a.blocks)};
}

Tolerance Quantize::tolerance(const Arguments&) {
  return Tolerance::exact("a file must not depend on the machine that wrote it");
}

std::span<const Variant<Quantize>> Quantize::variants() {
  static const Variant<Quantize> table[] = {
      quantize_cuda,
      INGOT_SIMD_ROWS(quantize_simd, quantize_simd_accepts),
      {"threads", {}, quantize_threads},
      {"reference", {}, quantize_reference},
  };
  return table;
}

template const Operation& describe_operation<Quantize>();

}  // namespace ingot
