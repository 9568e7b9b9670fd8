#include "kernels/norm/coded_rms_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/norm/coded_rms_norm_cases.h"
#include "kernels/norm/shapes.h"
#include "tensor/block_codes.h"

namespace ingot {

Result<void> CodedRmsNorm::check(const Arguments& a) {
  TRY(require_normalised_axis(name, "C1", a.x));
  if (a.block != 32 && a.block != 256) return violated(name, "C2", "expected a block of 32 or 256, found ", a.block);
  Shape shape = a.x.shape();
  const std::int64_t length = shape.last();
  if (length % a.block != 0) {
    return violated(name, "C1", "expected a last axis of a multiple of ", a.block, ", found x ", shape);
  }
  TRY(require_rows(name, "C3", "gamma", a.gamma, {length}));
  if (is_present(a.residual) != is_present(a.sum)) {
    return violated(name, "C4", "expected residual and sum together, found one without the other");
  }
  if (is_present(a.residual)) {
    TRY(require_rows(name, "C4", "residual", a.residual, shape));
    TRY(require_rows(name, "C4", "sum", a.sum, shape));
  }
  TRY(require_rows(name, "C5", "codes", a.codes, shape));
  shape[shape.rank() - 1] = length / a.block;
  TRY(require_rows(name, "C5", "scales", a.scales, shape));
  shape[shape.rank() - 1] = length / code_group;
  TRY(require_rows(name, "C5", "sums", a.sums, shape));
  return require_epsilon(name, "C6", a.epsilon);
}

Cost CodedRmsNorm::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  const double with_residual = is_present(a.residual) ? 1 : 0;
  return {
      .operations = (8 + with_residual) * count,
      .bytes_read = 4 * ((1 + with_residual) * count + static_cast<double>(a.gamma.count())),
      .bytes_written = (1 + 4 * with_residual) * count + 4 * static_cast<double>(a.scales.count() + a.sums.count())};
}

Tolerance CodedRmsNorm::tolerance(const Arguments&) {
  return {.epsilons = 5,
          .reason = "scales have the norm's tolerance and one rounding more; a code may fall on the other side",
          .integer_steps = 1};
}

namespace {

// A row of y for each thread.
std::size_t row_scratch(const CodedRmsNorm::Arguments& a, int threads) {
  return static_cast<std::size_t>(threads * a.x.shape().last()) * sizeof(float);
}

}  // namespace

std::span<const Variant<CodedRmsNorm>> CodedRmsNorm::variants() {
  static const Variant<CodedRmsNorm> table[] = {
      coded_rms_norm_cuda,
      INGOT_SIMD_ROWS(coded_rms_norm_simd, nullptr, row_scratch),
      {"reference", {}, coded_rms_norm_reference},
  };
  return table;
}

template const Operation& describe_operation<CodedRmsNorm>();

}  // namespace ingot
