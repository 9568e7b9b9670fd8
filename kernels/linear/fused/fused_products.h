// What the fused forms of this family share. Each is made of products with one x:
//
//   no curve               y_i = x W_i^T + b_i                one encoding of x and one fork-join for all
//   a curve, one product   y = f(x W^T + b)                   the curve is applied while sums are in cache
//   a curve, two products  y = f(x G^T + g) (x U^T + u)       and neither factor is ever written out whole
//
// x is floats, or codes that somebody made already (product_input.h). The reference is the composition: products
// rounded to floats, then the curve in double.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/linear/fused/epilogue.h"
#include "kernels/linear/ways/column_product.h"
#include "kernels/linear/ways/floats/gemm.h"

namespace ingot {

struct FusedProducts {
  std::array<Matmul::Arguments, 3> parts;  // the y of a second factor is left out
  int count = 0;
  std::optional<FusedCurve> curve;

  bool has_factor() const { return curve.has_value() && count == 2; }
};

// C2 of every fused form: weights has shape [N, K], an N of its own, type f32, f16, bf16 or a block format, and packed
// rows; or the layout of all is another, and it is as linear.matmul wants it then.
Result<void> require_fused_weights(std::string_view operation, std::string_view number, std::string_view field,
                                   const ProductInput& input, const ConstAnyView& weights);
Result<void> require_curve(std::string_view operation, std::string_view number, FusedCurve curve);
Cost fused_cost(const FusedProducts& products);
Tolerance fused_tolerance(const FusedProducts& products);
void run_fused_reference(const FusedProducts& products, Context& context);

// By one way of multiplying columns.
bool can_run_fused(const ColumnProduct& product, const FusedProducts& products);
bool can_run_fused_alone(const ColumnProduct& product, const FusedProducts& products);
std::size_t fused_scratch_bytes(const ColumnProduct& product, const FusedProducts& products, int threads);
void run_fused(const ColumnProduct& product, const FusedProducts& products, Context& context);

// Product after product on all threads, then the curve: what any shape and type of weights has.
std::size_t composed_scratch_bytes(const FusedProducts& products);
template <SimdTarget target>
void run_composed(const FusedProducts& products, Context& context);

// On a device (cuda/fused_products_cuda.cc).
bool can_run_fused_on_device(const FusedProducts& products);
std::size_t fused_device_scratch_bytes(const FusedProducts& products);
void run_fused_on_device(const FusedProducts& products, Context& context);
extern const DeviceFunction* const product_device_function;
// Of more tokens than a tile of the other row has, with weights of 16 bits (cuda/wide_products_cuda.cc): the same bits.
bool can_run_wide(const FusedProducts& products);
std::size_t wide_scratch_bytes(const FusedProducts& products);
void run_wide(const FusedProducts& products, Context& context);
extern const DeviceFunction* const wide_device_function;

inline const ColumnProduct& column_product_of(const void* row) { return *static_cast<const ColumnProduct*>(row); }

// The rows of an operation: the device's two, one for each way of multiplying columns, and the `rest`. `products` says
// what the operation is made of.
template <class Op, FusedProducts (*products)(const typename Op::Arguments&)>
std::vector<Variant<Op>> with_column_rows(std::initializer_list<Variant<Op>> rest) {
  using Arguments = typename Op::Arguments;
  constexpr auto run = [](const void* row, const Arguments& a, Context& context) {
    run_fused(column_product_of(row), products(a), context);
  };
  constexpr auto accepts = [](const void* row, const Arguments& a) {
    return can_run_fused(column_product_of(row), products(a));
  };
  constexpr auto accepts_alone = [](const void* row, const Arguments& a) {
    return can_run_fused_alone(column_product_of(row), products(a));
  };
  constexpr auto scratch_bytes = [](const void* row, const Arguments& a, int threads) {
    return fused_scratch_bytes(column_product_of(row), products(a), threads);
  };
  std::vector<Variant<Op>> rows;
  rows.push_back({.name = "cuda_wide",
                  .needs = {Feature::sm_80},
                  .run = [](const Arguments& a, Context& context) { run_wide(products(a), context); },
                  .accepts = [](const Arguments& a) { return can_run_wide(products(a)); },
                  .scratch_bytes = [](const Arguments& a, int) { return wide_scratch_bytes(products(a)); },
                  .device_function = wide_device_function});
  rows.push_back({.name = "cuda",
                  .needs = {Feature::sm_80},
                  .run = [](const Arguments& a, Context& context) { run_fused_on_device(products(a), context); },
                  .accepts = [](const Arguments& a) { return can_run_fused_on_device(products(a)); },
                  .scratch_bytes = [](const Arguments& a, int) { return fused_device_scratch_bytes(products(a)); },
                  .device_function = product_device_function});
  for (const ColumnProduct& product : column_products()) {
    Variant<Op>& row = rows.emplace_back(product.name, product.needs);
    if (product.built) row.run = {+run, &product};
    row.accepts = {+accepts, &product};
    row.scratch_bytes = {+scratch_bytes, &product};
    row.accepts_alone = {+accepts_alone, &product};
  }
  rows.insert(rows.end(), rest);
  return rows;
}

// The table of a fused operation, which has
//   static FusedProducts products(const Arguments& arguments);
template <class Op>
std::span<const Variant<Op>> fused_variants() {
  using Arguments = typename Op::Arguments;
  static const SimdEntries<Op> composed = entries_over<Op>(gemm_threaded, []<SimdTarget target>() {
    return +[](const Arguments& a, Context& context) { run_composed<target>(Op::products(a), context); };
  });
  constexpr auto scratch = [](const Arguments& a, int) { return composed_scratch_bytes(Op::products(a)); };
  constexpr auto lies_as_rows = [](const Arguments& a) { return a.layout == WeightLayout::rows; };
  constexpr auto reference = [](const Arguments& a, Context& context) {
    run_fused_reference(Op::products(a), context);
  };
  constexpr auto never = [](const Arguments&) { return false; };  // few rows are not summed as many are
  static const auto rows = with_column_rows<Op, Op::products>({
      {"composed_avx512", {Feature::avx512}, composed.avx512, lies_as_rows, scratch, never},
      {"composed_avx2", {Feature::avx2}, composed.avx2, lies_as_rows, scratch, never},
      {"composed_sse4", {Feature::sse4}, composed.sse4, lies_as_rows, scratch, never},
      {"composed_neon", {Feature::neon}, composed.neon, lies_as_rows, scratch, never},
      {"reference", {}, reference},
  });
  return rows;
}

}  // namespace ingot
