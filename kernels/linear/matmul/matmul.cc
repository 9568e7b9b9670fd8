#include "kernels/linear/matmul/matmul.h"

#include <algorithm>
#include <vector>

#include "kernels/contract/describe.h"
#include "kernels/linear/fused/fused_products.h"
#include "kernels/linear/matmul/matmul_cases.h"
#include "kernels/linear/matmul/matmul_run.h"
#include "kernels/linear/sum_tolerance.h"
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"
#include "tensor/planes.h"

namespace ingot {

Result<void> Matmul::check(const Arguments& a) {
  TRY(require_product_input(name, "C1", a, {a.weights}));
  TRY(require_rank(name, "C2", "weights", a.weights, 2));
  TRY(require_weights(name, "C2", a.weights, {a.weights.size(0), a.shape()[1]}));
  TRY(require_any_layout(name, "C3", "weights", a.layout, a.weights));
  if (is_present(a.bias)) TRY(require_packed(name, "C4", "bias", a.bias, {a.weights.size(0)}));
  return require_packed(name, "C5", "y", a.y, {a.shape()[0], a.weights.size(0)});
}

Cost Matmul::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.y.count()) * static_cast<double>(a.shape()[1]),
          .bytes_read = stored_bytes_of(a) + stored_bytes(a.weights) + (is_present(a.bias) ? stored_bytes(a.bias) : 0),
          .bytes_written = stored_bytes(a.y)};
}

Tolerance Matmul::tolerance(const Arguments& a) {
  const std::int64_t depth = a.shape()[1];
  if (a.layout == WeightLayout::rows) {
    return a.is_coded() ? sum_tolerance(depth, largest_magnitude_of(a) * largest_magnitude(a.weights))
                        : weight_sum_tolerance(depth, a.x, a.weights);
  }
  double largest = 0;
  std::vector<std::byte> row(static_cast<std::size_t>(row_bytes(a.weights.dtype(), depth)));
  for (std::int64_t n = 0; a.weights.data() != nullptr && n < a.weights.size(0); ++n) {
    gather_row(a.layout, a.weights, n, row.data());
    largest = std::max(largest, largest_magnitude(ConstAnyView(row.data(), a.weights.dtype(), {depth})));
  }
  return sum_tolerance(depth, largest_magnitude_of(a) * largest);
}

namespace {

std::size_t threaded_scratch(const Matmul::Arguments& a, int) {
  return packed_scratch_bytes(a.y.size(0), a.y.size(1), a.shape()[1], a.weights.dtype());
}

bool lies_as_rows(const Matmul::Arguments& a) { return a.layout == WeightLayout::rows; }

FusedProducts alone(const Matmul::Arguments& a) {
  FusedProducts products{.parts = {}, .count = 1, .curve = {}};
  products.parts[0] = Matmul::Arguments::of(a, a.weights, a.bias, a.y);
  return products;
}

}  // namespace

// The ladder. First what multiplies columns as weights lie (column_product.cc): dot products for few rows, for which a
// packed panel would be used too seldom to pay, lanes of rows on a PC for up to sixteen, and panels of codes for many.
// Weights in the interleaved layout have rows of their own for few rows of x. Then packed panels of floats, on all
// threads and on one; blocking without vectors; the plain sum.
std::span<const Variant<Matmul>> Matmul::variants() {
  static const SimdEntries<Matmul> threaded =
      entries_over<Matmul>(gemm_threaded, []<SimdTarget target>() { return &matmul_threaded<target>; });
  static const SimdEntries<Matmul> packed =
      entries_over<Matmul>(gemm_serial, []<SimdTarget target>() { return &matmul_packed<target>; });
  static const auto table = with_column_rows<Matmul, alone>({
      {"threaded_avx512", {Feature::avx512}, threaded.avx512, lies_as_rows, threaded_scratch},
      {"threaded_avx2", {Feature::avx2}, threaded.avx2, lies_as_rows, threaded_scratch},
      {"threaded_sse4", {Feature::sse4}, threaded.sse4, lies_as_rows, threaded_scratch},
      {"threaded_neon", {Feature::neon}, threaded.neon, lies_as_rows, threaded_scratch},
      {"packed_avx512", {Feature::avx512}, packed.avx512, lies_as_rows, threaded_scratch},
      {"packed_avx2", {Feature::avx2}, packed.avx2, lies_as_rows, threaded_scratch},
      {"packed_sse4", {Feature::sse4}, packed.sse4, lies_as_rows, threaded_scratch},
      {"packed_neon", {Feature::neon}, packed.neon, lies_as_rows, threaded_scratch},
      {"blocked", {}, matmul_blocked, [](const Arguments& a) { return a.weights.dtype() == DType::f32; }},
      {"reference", {}, matmul_reference},
  });
  return table;
}

template const Operation& describe_operation<Matmul>();

}  // namespace ingot
