#include "kernels/linear/int8/int8_matmul.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/int8/int8_matmul_cases.h"
#include "kernels/linear/int8/int8_tiles.h"
#include "kernels/linear/weights.h"

namespace ingot {
namespace {

Result<void> require_int8_matrix(std::string_view number, std::string_view field, const ConstAnyView& view) {
  TRY(require_rank(Int8Matmul::name, number, field, view, 2));
  TRY(require_dtype(Int8Matmul::name, number, field, view, {DType::i8, DType::u8}));
  return require_contiguous_rows(Int8Matmul::name, number, field, view);
}

// One number for all rows, or one a row.
Result<void> require_per_row(std::string_view field, const ConstAnyView& values, std::int64_t rows) {
  if (values.rank() == 1 && (values.size(0) == 1 || values.size(0) == rows)) return {};
  return violated(Int8Matmul::name, "C3", "expected ", field, " of shape [1] or [", rows, "], found ", values.shape());
}

Result<void> require_zero_points(std::string_view field, const View<const std::int32_t>& zeros, DType dtype,
                                 std::int64_t rows) {
  if (!is_present(zeros)) return {};
  TRY(require_per_row(field, zeros, rows));
  if (!zeros.place().is_host()) return {};  // what is in them is the device's
  const std::int32_t lowest = dtype == DType::u8 ? 0 : -128;
  for (std::int64_t row = 0; row < zeros.size(0); ++row) {
    if (zeros(row) < lowest || zeros(row) > lowest + 255) {
      return violated(Int8Matmul::name, "C4", "expected ", field, " in [", lowest, ", ", lowest + 255, "] for ", dtype,
                      ", found ", zeros(row), " in row ", row);
    }
  }
  return {};
}

Variant<Int8Matmul> few_rows(std::string_view name, FeatureSet needs, const Int8Entry& entry) {
  return {name, needs, entry.run, has_few_int8_rows, entry.scratch_bytes};
}
Variant<Int8Matmul> many_rows(std::string_view name, FeatureSet needs, const Int8Entry& entry) {
  return {name, needs, entry.run, has_many_int8_rows, entry.scratch_bytes};
}

}  // namespace

Result<void> Int8Matmul::check(const Arguments& a) {
  TRY(require_int8_matrix("C1", "x", a.x));
  if (a.x.size(1) > longest_int8_sum) {
    return violated(name, "C1", "expected rows of at most ", longest_int8_sum, " elements, found x ", a.x.shape());
  }
  TRY(require_int8_matrix("C2", "weights", a.weights));
  TRY(require_shape(name, "C2", "weights", a.weights, {a.weights.size(0), a.x.size(1)}));
  const std::int64_t rows = a.x.size(0);
  const std::int64_t columns = a.weights.size(0);
  TRY(require_per_row("x_scale", a.x_scale, rows));
  TRY(require_per_row("weight_scale", a.weight_scale, columns));
  TRY(require_zero_points("x_zero", a.x_zero, a.x.dtype(), rows));
  TRY(require_zero_points("weight_zero", a.weight_zero, a.weights.dtype(), columns));
  if (is_present(a.bias)) TRY(require_packed(name, "C5", "bias", a.bias, {columns}));
  TRY(require_packed(name, "C5", "y", a.y, {rows, columns}));
  if (is_present(a.accumulators)) TRY(require_packed(name, "C5", "accumulators", a.accumulators, {rows, columns}));
  return {};
}

Cost Int8Matmul::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.y.count()) * static_cast<double>(a.x.size(1)),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.weights),
          .bytes_written = stored_bytes(a.y)};
}

Tolerance Int8Matmul::tolerance(const Arguments&) {
  return Tolerance::exact("integer sums are exact and the scaling is one shared function");
}

std::span<const Variant<Int8Matmul>> Int8Matmul::variants() {
  static constexpr auto row_sums = [](const Arguments& a, int) {
    return static_cast<std::size_t>(a.x.size(0)) * sizeof(std::uint32_t);
  };
  using enum Feature;
  static const Variant<Int8Matmul> table[] = {
      int8_matmul_cuda,
      few_rows("dot_avx512_vnni", {avx512, avx512_vnni}, int8_dot_avx512_vnni),
      many_rows("tiles_amx_int8", {avx512, amx_int8}, int8_tiles_amx),
      many_rows("tiles_avx512_vnni", {avx512, avx512_vnni}, int8_tiles_avx512_vnni),
      many_rows("tiles_avx_vnni", {avx2, avx_vnni}, int8_tiles_avx_vnni),
      many_rows("tiles_avx2", {avx2}, int8_tiles_avx2),
      few_rows("dot_neon_dotprod", {neon, dotprod}, int8_dot_neon_dotprod),
      many_rows("tiles_neon_i8mm", {neon, dotprod, i8mm}, int8_tiles_neon_i8mm),
      many_rows("tiles_neon_dotprod", {neon, dotprod}, int8_tiles_neon_dotprod),
      INGOT_SIMD_ROWS(int8_matmul_simd, nullptr, row_sums),
      {"reference", {}, int8_matmul_reference},
  };
  return table;
}

template const Operation& describe_operation<Int8Matmul>();

}  // namespace ingot
