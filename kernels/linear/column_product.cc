#include "kernels/linear/column_product.h"

#include "kernels/linear/coded_spans.h"
#include "kernels/linear/matmul_run.h"

namespace ingot {
namespace {

// Few rows by dot products. `find` gives the product for a type of weights.
using FindDot = const DotProduct* (*)(DType weight_type);

template <FindDot find>
std::int64_t chunk_columns(const Matmul::Arguments& a) {
  const std::int64_t columns = dot_chunk_columns(*find(a.weights.dtype()), gemm_of(a));
  return divide_rounding_up(columns, column_granule) * column_granule;
}

template <FindDot find>
void prepare(const Matmul::Arguments& a, Workers&, std::byte* prepared) {
  const DotProduct& product = *find(a.weights.dtype());
  if (product.encode != nullptr) product.encode(gemm_of(a), prepared);
}

template <FindDot find>
void multiply(const Matmul::Arguments& a, const std::byte* prepared, std::byte*) {
  find(a.weights.dtype())->columns(gemm_of(a), prepared, 0, a.y.size(1));
}

std::size_t dot_bytes(const Matmul::Arguments& a) {
  return is_block_format(a.weights.dtype()) ? codes_scratch_bytes(a.x.size(0), a.x.size(1)) : 0;
}

template <SimdTarget target>
const DotProduct* dot_of(DType type) {
  return is_block_format(type) ? gemm_codes[target] : gemm_dot[target];
}

template <SimdTarget target>
ColumnProduct dot_row(std::string_view name, Feature feature) {
  return {.name = name,
          .needs = {feature},
          .target = target,
          .built = gemm_dot[target] != nullptr,
          .accepts = has_few_rows,
          .prepared_bytes = dot_bytes,
          .chunk_columns = chunk_columns<dot_of<target>>,
          .prepare = prepare<dot_of<target>>,
          .multiply = multiply<dot_of<target>>};
}

const DotProduct* avx512_vnni_of(DType) { return gemm_codes_avx512_vnni; }

}  // namespace

const ColumnProduct& column_product(int index) {
  static const ColumnProduct list[column_product_count] = {
      {.name = "dot_avx512_vnni",
       .needs = {Feature::avx512, Feature::avx512_vnni},
       .target = SimdTarget::avx512,
       .built = gemm_codes_avx512_vnni != nullptr,
       .accepts = [](const Matmul::Arguments& a) { return has_few_rows(a) && is_block_format(a.weights.dtype()); },
       .prepared_bytes = [](const Matmul::Arguments& a) { return coded_span_bytes(a.x.size(0), a.x.size(1)); },
       .chunk_columns = chunk_columns<avx512_vnni_of>,
       .prepare = prepare<avx512_vnni_of>,
       .multiply = multiply<avx512_vnni_of>},
      dot_row<SimdTarget::avx512>("dot_avx512", Feature::avx512),
      dot_row<SimdTarget::avx2>("dot_avx2", Feature::avx2),
      dot_row<SimdTarget::sse4>("dot_sse4", Feature::sse4),
      dot_row<SimdTarget::neon>("dot_neon", Feature::neon),
  };
  return list[index];
}

}  // namespace ingot
