#include "kernels/linear/grouped/matmul_grouped.h"

#include <algorithm>

#include "kernels/contract/describe.h"
#include "kernels/linear/grouped/experts.h"
#include "kernels/linear/grouped/matmul_grouped_cases.h"
#include "kernels/linear/matmul/matmul_run.h"
#include "kernels/linear/sum_tolerance.h"
#include "kernels/linear/ways/column_product.h"
#include "kernels/linear/ways/dots/coded_spans.h"

namespace ingot {
namespace {

// Offsets of `experts` experts that cover `rows` rows.
Result<void> require_offsets(std::string_view operation, std::string_view number,
                             const View<const std::int32_t>& offsets, std::int64_t experts, std::int64_t rows) {
  TRY(require_rank(operation, number, "offsets", offsets, 1));
  if (experts < 0 || offsets.size(0) - 1 != experts) {
    return violated(operation, number, "expected an offset more than experts (", experts, "), found ", offsets.shape());
  }
  if (!offsets.place().is_host()) return {};  // what is in them is the device's
  if (offsets(0) != 0) return violated(operation, number, "expected offsets from 0, found ", offsets(0));
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    if (offsets(expert + 1) < offsets(expert)) {
      return violated(operation, number, "expected offsets that never decrease, found ", offsets(expert), " before ",
                      offsets(expert + 1), " at expert ", expert);
    }
  }
  if (offsets(experts) != rows) {
    return violated(operation, number, "expected offsets to end at the ", rows, " rows, found ", offsets(experts));
  }
  return {};
}

// T rows in G equal shares.
Result<void> require_shares(std::string_view operation, std::string_view number, std::int64_t experts,
                            std::int64_t rows) {
  if (experts == 0 ? rows == 0 : rows % experts == 0) return {};
  return violated(operation, number, "expected rows in equal shares for ", experts,
                  " experts where there are no offsets, ", "found ", rows);
}

// Experts one after the other, each with all threads, by one variant of the plain product where an expert has few rows
// and another where it has many. Scratch is what the expert with most rows could need.
using ProductFunction = void (*)(const Matmul::Arguments&, Context&);
template <ProductFunction few, ProductFunction many>
void grouped_product(const MatmulGrouped::Arguments& arguments, Context& context) {
  for (std::int64_t expert = 0; expert < arguments.weights.size(0); ++expert) {
    const Matmul::Arguments one = expert_of(arguments, expert);
    (has_few_rows(one) ? few : many)(one, context);
  }
}

// The same by the variant for few rows alone, a row after another where they are summed in another order together.
// Which rows an expert gets depends on all tokens of a pass, so that this is how neighbours never show.
template <ProductFunction few>
void grouped_few(const MatmulGrouped::Arguments& arguments, Context& context) {
  const std::int64_t together = is_block_format(arguments.weights.dtype()) ? 1 : float_dot_rows;
  for (std::int64_t expert = 0; expert < arguments.weights.size(0); ++expert) {
    const Matmul::Arguments one = expert_of(arguments, expert);
    for (std::int64_t row = 0; row < one.x.size(0); row += together) {
      few(rows_of(one, row, std::min(row + together, one.x.size(0))), context);
    }
  }
}

std::size_t grouped_scratch(const MatmulGrouped::Arguments& a, int) {
  const std::int64_t depth = a.x.size(1);
  return std::max({packed_scratch_bytes(a.x.size(0), a.y.size(1), depth, a.weights.dtype()),
                   codes_scratch_bytes(dot_rows, depth), coded_span_bytes(dot_rows, depth)});
}

template <SimdTarget target, class Arguments>
void grouped_derivative(const Arguments& arguments, Context& context) {
  for (std::int64_t expert = 0; expert + 1 < arguments.offsets.size(0); ++expert) {
    gemm_threaded[target](gemm_of(expert_of(arguments, expert)), context.workers, context.scratch.data());
  }
}

// Few rows by byte dot products, many as floats; null where this build has not both.
template <const DotProduct* const& codes, SimdTarget target>
auto grouped_codes() {
  return codes != nullptr && gemm_threaded[target] != nullptr
             ? grouped_product<matmul_dot_codes<codes>, matmul_threaded<target>>
             : nullptr;
}

template <const DotProduct* const& codes>
auto grouped_few_codes() {
  return codes != nullptr ? grouped_few<matmul_dot_codes<codes>> : nullptr;
}

std::size_t grouped_backward_input_scratch(const MatmulGroupedBackwardInput::Arguments& a, int) {
  return gemm_scratch_bytes(a.dx.size(1), a.dy.size(1));
}

std::size_t grouped_backward_weight_scratch(const MatmulGroupedBackwardWeight::Arguments& a, int) {
  return gemm_scratch_bytes(a.dweights.size(2), a.x.size(0));
}

}  // namespace

Result<void> MatmulGrouped::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "x", a.x, 2));
  TRY(require_contiguous_rows(name, "C1", "x", a.x));
  TRY(require_rank(name, "C2", "weights", a.weights, 3));
  TRY(require_weights(name, "C2", a.weights, {a.weights.size(0), a.weights.size(1), a.x.size(1)}));
  TRY(require_weight_layout(name, "C3", a.layout));
  TRY(is_present(a.offsets) ? require_offsets(name, "C4", a.offsets, a.weights.size(0), a.x.size(0))
                            : require_shares(name, "C4", a.weights.size(0), a.x.size(0)));
  return require_packed(name, "C5", "y", a.y, {a.x.size(0), a.weights.size(1)});
}

Cost MatmulGrouped::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.y.count()) * static_cast<double>(a.x.size(1)),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.weights),
          .bytes_written = stored_bytes(a.y)};
}

Tolerance MatmulGrouped::tolerance(const Arguments& a) { return weight_sum_tolerance(a.x.size(1), a.x, a.weights); }

std::span<const Variant<MatmulGrouped>> MatmulGrouped::variants() {
  static const SimdEntries<MatmulGrouped> threaded = entries_over<MatmulGrouped>(
      gemm_threaded, []<SimdTarget target>() { return &grouped_product<matmul_dot<target>, matmul_threaded<target>>; });
  static const SimdEntries<MatmulGrouped> few =
      entries_over<MatmulGrouped>(gemm_threaded, []<SimdTarget target>() { return &grouped_few<matmul_dot<target>>; });
  auto is_coded = [](const Arguments& a) {
    return is_block_format(a.weights.dtype()) && !is_generic_format(a.weights.dtype());
  };
  auto never = [](const Arguments&) { return false; };
  static const Variant<MatmulGrouped> table[] = {
      matmul_grouped_cuda(),
      {"avx512_vnni",
       {Feature::avx512, Feature::avx512_vnni},
       grouped_codes<gemm_codes_avx512_vnni, SimdTarget::avx512>(),
       is_coded,
       grouped_scratch,
       never},
      {"neon_dotprod",
       {Feature::neon, Feature::dotprod},
       grouped_codes<gemm_codes_neon_dotprod, SimdTarget::neon>(),
       is_coded,
       grouped_scratch,
       never},
      INGOT_SIMD_ROWS(threaded, nullptr, grouped_scratch, never),
      {"few_avx512_vnni",
       {Feature::avx512, Feature::avx512_vnni},
       grouped_few_codes<gemm_codes_avx512_vnni>(),
       is_coded,
       grouped_scratch},
      {"few_neon_dotprod",
       {Feature::neon, Feature::dotprod},
       grouped_few_codes<gemm_codes_neon_dotprod>(),
       is_coded,
       grouped_scratch},
      {"few_avx512", {Feature::avx512}, few.avx512, nullptr, grouped_scratch},
      {"few_avx2", {Feature::avx2}, few.avx2, nullptr, grouped_scratch},
      {"few_sse4", {Feature::sse4}, few.sse4, nullptr, grouped_scratch},
      {"few_neon", {Feature::neon}, few.neon, nullptr, grouped_scratch},
      {"reference", {}, matmul_grouped_reference},
  };
  return table;
}

Result<void> MatmulGroupedBackwardInput::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "dy", a.dy, 2));
  TRY(require_contiguous_rows(name, "C1", "dy", a.dy));
  TRY(require_rank(name, "C2", "weights", a.weights, 3));
  TRY(require_weights(name, "C2", a.weights, {a.weights.size(0), a.dy.size(1), a.weights.size(2)}));
  TRY(require_weight_layout(name, "C3", a.layout));
  TRY(require_offsets(name, "C4", a.offsets, a.weights.size(0), a.dy.size(0)));
  return require_packed(name, "C5", "dx", a.dx, {a.dy.size(0), a.weights.size(2)});
}

Cost MatmulGroupedBackwardInput::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.dx.count()) * static_cast<double>(a.dy.size(1)),
          .bytes_read = stored_bytes(a.dy) + stored_bytes(a.weights),
          .bytes_written = stored_bytes(a.dx)};
}

Tolerance MatmulGroupedBackwardInput::tolerance(const Arguments& a) {
  return sum_tolerance(a.dy.size(1), a.dy, a.weights);
}

std::span<const Variant<MatmulGroupedBackwardInput>> MatmulGroupedBackwardInput::variants() {
  static const SimdEntries<MatmulGroupedBackwardInput> threaded = entries_over<MatmulGroupedBackwardInput>(
      gemm_threaded, []<SimdTarget target>() { return &grouped_derivative<target, Arguments>; });
  static const Variant<MatmulGroupedBackwardInput> table[] = {
      INGOT_SIMD_ROWS(threaded, nullptr, grouped_backward_input_scratch),
      {"reference", {}, matmul_grouped_backward_input_reference},
  };
  return table;
}

Result<void> MatmulGroupedBackwardWeight::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "x", a.x, 2));
  TRY(require_contiguous_rows(name, "C1", "x", a.x));
  TRY(require_rank(name, "C2", "offsets", a.offsets, 1));
  TRY(require_offsets(name, "C2", a.offsets, a.offsets.size(0) - 1, a.x.size(0)));
  TRY(require_rank(name, "C3", "dy", a.dy, 2));
  TRY(require_packed(name, "C3", "dy", a.dy, {a.x.size(0), a.dy.size(1)}));
  return require_packed(name, "C4", "dweights", a.dweights, {a.offsets.size(0) - 1, a.dy.size(1), a.x.size(1)});
}

Cost MatmulGroupedBackwardWeight::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.dy.count()) * static_cast<double>(a.x.size(1)),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.dy),
          .bytes_written = stored_bytes(a.dweights)};
}

Tolerance MatmulGroupedBackwardWeight::tolerance(const Arguments& a) { return sum_tolerance(a.x.size(0), a.x, a.dy); }

std::span<const Variant<MatmulGroupedBackwardWeight>> MatmulGroupedBackwardWeight::variants() {
  static const SimdEntries<MatmulGroupedBackwardWeight> threaded = entries_over<MatmulGroupedBackwardWeight>(
      gemm_threaded, []<SimdTarget target>() { return &grouped_derivative<target, Arguments>; });
  static const Variant<MatmulGroupedBackwardWeight> table[] = {
      INGOT_SIMD_ROWS(threaded, nullptr, grouped_backward_weight_scratch),
      {"reference", {}, matmul_grouped_backward_weight_reference},
  };
  return table;
}

template const Operation& describe_operation<MatmulGrouped>();
template const Operation& describe_operation<MatmulGroupedBackwardInput>();
template const Operation& describe_operation<MatmulGroupedBackwardWeight>();

}  // namespace ingot
