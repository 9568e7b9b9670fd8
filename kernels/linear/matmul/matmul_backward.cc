#include "kernels/linear/matmul/matmul_backward.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/matmul/matmul_backward_cases.h"
#include "kernels/linear/matmul/matmul_run.h"
#include "kernels/linear/sum_tolerance.h"

namespace ingot {

Result<void> MatmulBackwardInput::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "dy", a.dy, 2));
  TRY(require_contiguous_rows(name, "C1", "dy", a.dy));
  TRY(require_rank(name, "C2", "weights", a.weights, 2));
  TRY(require_weights(name, "C2", a.weights, {a.dy.size(1), a.weights.size(1)}));
  TRY(require_weight_layout(name, "C3", a.layout));
  return require_packed(name, "C4", "dx", a.dx, {a.dy.size(0), a.weights.size(1)});
}

Cost MatmulBackwardInput::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.dx.count()) * static_cast<double>(a.dy.size(1)),
          .bytes_read = stored_bytes(a.dy) + stored_bytes(a.weights),
          .bytes_written = stored_bytes(a.dx)};
}

Tolerance MatmulBackwardInput::tolerance(const Arguments& a) { return sum_tolerance(a.dy.size(1), a.dy, a.weights); }

std::span<const Variant<MatmulBackwardInput>> MatmulBackwardInput::variants() {
  static const SimdEntries<MatmulBackwardInput> threaded = entries_over<MatmulBackwardInput>(
      gemm_threaded, []<SimdTarget target>() { return &gemm_run<target, Arguments>; });
  static const Variant<MatmulBackwardInput> table[] = {
      INGOT_SIMD_ROWS(threaded, nullptr, gemm_run_scratch),
      {"reference", {}, matmul_backward_input_reference},
  };
  return table;
}

Result<void> MatmulBackwardWeight::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "x", a.x, 2));
  TRY(require_contiguous_rows(name, "C1", "x", a.x));
  TRY(require_rank(name, "C2", "dy", a.dy, 2));
  TRY(require_packed(name, "C2", "dy", a.dy, {a.x.size(0), a.dy.size(1)}));
  return require_packed(name, "C3", "dweights", a.dweights, {a.dy.size(1), a.x.size(1)});
}

Cost MatmulBackwardWeight::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.dweights.count()) * static_cast<double>(a.x.size(0)),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.dy),
          .bytes_written = stored_bytes(a.dweights)};
}

Tolerance MatmulBackwardWeight::tolerance(const Arguments& a) { return sum_tolerance(a.x.size(0), a.x, a.dy); }

std::span<const Variant<MatmulBackwardWeight>> MatmulBackwardWeight::variants() {
  static const SimdEntries<MatmulBackwardWeight> threaded = entries_over<MatmulBackwardWeight>(
      gemm_threaded, []<SimdTarget target>() { return &gemm_run<target, Arguments>; });
  static const Variant<MatmulBackwardWeight> table[] = {
      INGOT_SIMD_ROWS(threaded, nullptr, gemm_run_scratch),
      {"reference", {}, matmul_backward_weight_reference},
  };
  return table;
}

Result<void> MatmulBackwardBias::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "dy", a.dy, 2));
  TRY(require_contiguous_rows(name, "C1", "dy", a.dy));
  return require_packed(name, "C2", "dbias", a.dbias, {a.dy.size(1)});
}

Cost MatmulBackwardBias::cost(const Arguments& a) {
  return {.operations = static_cast<double>(a.dy.count()),
          .bytes_read = stored_bytes(a.dy),
          .bytes_written = stored_bytes(a.dbias)};
}

Tolerance MatmulBackwardBias::tolerance(const Arguments& a) {
  return sum_tolerance(a.dy.size(0), largest_magnitude(a.dy));
}

std::span<const Variant<MatmulBackwardBias>> MatmulBackwardBias::variants() {
  static const Variant<MatmulBackwardBias> table[] = {
      INGOT_SIMD_ROWS(matmul_backward_bias_simd),
      {"reference", {}, matmul_backward_bias_reference},
  };
  return table;
}

template const Operation& describe_operation<MatmulBackwardInput>();
template const Operation& describe_operation<MatmulBackwardWeight>();
template const Operation& describe_operation<MatmulBackwardBias>();

}  // namespace ingot
