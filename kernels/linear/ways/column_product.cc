#include "kernels/linear/ways/column_product.h"

#include <algorithm>

#include "kernels/linear/matmul/matmul_run.h"
#include "kernels/linear/ways/bf16_panels/bf16_panels.h"
#include "kernels/linear/ways/code_panels/code_panels.h"
#include "kernels/linear/ways/dots/coded_spans.h"
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"
#include "kernels/linear/ways/lanes/lanes.h"
#include "tensor/interleaved.h"

namespace ingot {
namespace {

// --- where neighbours must never show: "One order of sums" in the README ---

std::int64_t dot_rows_together(const Matmul::Arguments&) { return dot_rows; }
bool lies_as_rows(const Matmul::Arguments& a) { return a.layout == WeightLayout::rows; }
// Formats that ways have sources for; generic ones are multiplied by dot products of any_dot_row, and as floats.
bool has_own_sources(DType type) { return is_block_format(type) && !is_generic_format(type); }
bool is_block_format_in_rows(const Matmul::Arguments& a) {
  return lies_as_rows(a) && has_own_sources(a.weights.dtype());
}
std::int64_t lane_rows_together(const Matmul::Arguments&) { return most_lane_rows; }

// Formats that dot products, lanes and panels sum in one order: those that have nothing beside codes and scales.
bool is_plain(DType type) {
  using enum DType;
  return type == q4_0 || type == q5_0 || type == q8_0 || type == mxfp4 || type == q3_k || type == q6_k;
}
bool is_plain_32_in_rows(const Matmul::Arguments& a) {
  return is_block_format_in_rows(a) && is_plain(a.weights.dtype()) && block_elements(a.weights.dtype()) == 32;
}
// Panels in the place of lanes.
bool is_for_panels_of_lanes(const Matmul::Arguments& a) {
  return is_interleaved(a) || (a.x.size(0) > most_lane_rows && is_plain(a.weights.dtype()));
}
bool is_for_matrix_panels(const Matmul::Arguments& a) { return is_interleaved(a) || is_plain_32_in_rows(a); }
// A row of these has a loop of its own.
bool is_summed_alike_by_dots(const Matmul::Arguments& a) {
  return is_block_format_in_rows(a) && a.weights.dtype() != DType::q4_k && a.weights.dtype() != DType::q6_k;
}
bool is_one_interleaved_row(const Matmul::Arguments& a) { return is_interleaved(a) && a.x.size(0) == 1; }
// With more rows panels are as fast.
bool is_for_even_pairs(const Matmul::Arguments& a) {
  return is_interleaved(a) && a.x.size(0) > 1 && a.x.size(0) <= 8 && block_elements(a.weights.dtype()) == 32;
}
bool is_for_pairs_256(const Matmul::Arguments& a) {
  return is_interleaved(a) && a.x.size(0) > 1 && a.x.size(0) <= 4 && block_elements(a.weights.dtype()) == 256;
}

// Few rows by dot products. `find` gives the product for a type of weights.
using FindDot = const DotProduct* (*)(DType weight_type);

template <FindDot find>
ColumnProduct dot_row(std::string_view name, FeatureSet needs, SimdTarget target) {
  return {.name = name,
          .needs = needs,
          .target = target,
          .accepts = has_few_rows,
          .chunk_columns =
              [](const Matmul::Arguments& a) { return dot_chunk_columns(*find(a.weights.dtype()), gemm_of(a)); },
          .prepare =
              [](const Matmul::Arguments& a, Workers&, std::byte* prepared) {
                const DotProduct& product = *find(a.weights.dtype());
                if (product.encode != nullptr) product.encode(gemm_of(a), prepared);
              },
          .multiply = [](const Matmul::Arguments& a, const std::byte* prepared,
                         std::byte*) { find(a.weights.dtype())->columns(gemm_of(a), prepared, 0, a.y.size(1)); }};
}

template <SimdTarget target>
const DotProduct* of_target(DType type) {
  return is_block_format(type) ? gemm_codes[target] : gemm_dot[target];
}
template <const DotProduct* const& product>
const DotProduct* same_for_all(DType) {
  return product;
}

// All types, by one vector source.
template <SimdTarget target>
ColumnProduct any_dot_row(std::string_view name, Feature feature) {
  ColumnProduct row = dot_row<of_target<target>>(name, {feature}, target);
  row.built = gemm_dot[target] != nullptr;
  row.accepts_alone = lies_as_rows;
  row.rows_together = [](const Matmul::Arguments& a) {
    return is_block_format(a.weights.dtype()) ? dot_rows : std::max<std::int64_t>(a.x.size(0), 1);
  };
  row.prepared_bytes = [](const Matmul::Arguments& a) {
    return is_block_format(a.weights.dtype()) ? codes_scratch_bytes(a.x.size(0), a.x.size(1))
                                              : rounded_scratch_bytes(a.x.size(0), a.x.size(1), a.weights.dtype());
  };
  return row;
}

// Block formats, codes in registers. `product` is null where it is not built.
template <const DotProduct* const& product>
ColumnProduct codes_row(std::string_view name, FeatureSet needs, SimdTarget target) {
  ColumnProduct row = dot_row<same_for_all<product>>(name, needs, target);
  row.built = product != nullptr;
  row.accepts = [](const Matmul::Arguments& a) { return has_few_rows(a) && has_own_sources(a.weights.dtype()); };
  row.prepared_bytes = [](const Matmul::Arguments& a) { return coded_span_bytes(a.x.size(0), a.x.size(1)); };
  return row;
}

// The same, a row of x after the other.
template <const DotProduct* const& product>
ColumnProduct single_row(std::string_view name, FeatureSet needs, SimdTarget target) {
  ColumnProduct row = codes_row<product>(name, needs, target);
  row.accepts_alone = is_block_format_in_rows;
  row.rows_together = [](const Matmul::Arguments&) { return std::int64_t{1}; };
  return row;
}

// The same for two rows of x and more, which go in pairs.
template <const DotProduct* const& product>
ColumnProduct pairs_row(std::string_view name, FeatureSet needs, SimdTarget target) {
  ColumnProduct row = codes_row<product>(name, needs, target);
  row.accepts = [](const Matmul::Arguments& a) {
    return a.x.size(0) > 1 && a.x.size(0) <= paired_rows && has_own_sources(a.weights.dtype()) &&
           block_elements(a.weights.dtype()) == 32 && a.layout == WeightLayout::rows;
  };
  row.accepts_alone = [](const Matmul::Arguments& a) { return a.x.size(0) <= paired_rows && is_plain_32_in_rows(a); };
  row.prepared_bytes = [](const Matmul::Arguments& a) { return coded_span_bytes(a.x.size(0) + 1, a.x.size(1)); };
  return row;
}

// With its sums in one order for any number of rows of x, in turns of as many as it takes.
ColumnProduct even(ColumnProduct row, bool (*accepts_alone)(const Matmul::Arguments&),
                   std::int64_t (*rows_together)(const Matmul::Arguments&) = nullptr) {
  row.accepts_alone = accepts_alone;
  if (rows_together != nullptr) row.rows_together = rows_together;
  return row;
}

// Few rows with one type of weights. `product` is null where it is not built.
template <const DotProduct* const& product>
ColumnProduct own_dot_row(std::string_view name, FeatureSet needs, bool (*accepts)(const Matmul::Arguments&),
                          std::size_t (*prepared_bytes)(const Matmul::Arguments&)) {
  ColumnProduct row = dot_row<same_for_all<product>>(name, needs, SimdTarget::neon);
  row.built = product != nullptr;
  row.accepts = accepts;
  row.prepared_bytes = prepared_bytes;
  return row;
}

bool has_few_rows_and_bf16(const Matmul::Arguments& a) {
  return has_few_rows(a) && a.x.size(0) <= dot_rows && a.weights.dtype() == DType::bf16;
}
std::size_t rounded_bytes(const Matmul::Arguments& a) {
  return rounded_scratch_bytes(a.x.size(0), a.x.size(1) + 7, DType::bf16);
}
bool has_few_rows_and_f16(const Matmul::Arguments& a) { return has_few_rows(a) && a.weights.dtype() == DType::f16; }
std::size_t halves_bytes(const Matmul::Arguments& a) { return halves_scratch_bytes(a.x.size(0), a.x.size(1)); }

// Block formats, up to sixteen rows, rows of weights in lanes. `product` is null where it is not built.
template <const LaneProduct* const& product>
ColumnProduct lanes_row(std::string_view name, FeatureSet needs, SimdTarget target) {
  return {
      .name = name,
      .needs = needs,
      .target = target,
      .built = product != nullptr,
      .accepts = [](const Matmul::Arguments& a) { return a.x.size(0) <= most_lane_rows && is_block_format_in_rows(a); },
      .prepared_bytes = [](const Matmul::Arguments& a) { return lane_span_bytes(a.x.size(0), a.x.size(1)); },
      .chunk_columns =
          [](const Matmul::Arguments& a) {
            const std::int64_t rows = rows_per_chunk(row_bytes(a.weights.dtype(), a.x.size(1)), 64 << 10);
            return divide_rounding_up(rows, lane_granule) * lane_granule;
          },
      .prepare =
          [](const Matmul::Arguments& a, Workers& workers, std::byte* spans) {
            const Gemm gemm = gemm_of(a);
            workers.for_chunks(gemm.rows, 1, [&](std::int64_t begin, std::int64_t end, int) {
              product->encode(gemm, spans, begin, end);
            });
          },
      .multiply = [](const Matmul::Arguments& a, const std::byte* spans,
                     std::byte*) { product->columns(gemm_of(a), spans); }};
}

// Many rows by panels of codes, those of weights made as they are multiplied. `product` is null where it is not built.
template <const PanelProduct* const& product>
ColumnProduct panel_row(std::string_view name, FeatureSet needs, SimdTarget target) {
  return {.name = name,
          .needs = needs,
          .target = target,
          .built = product != nullptr,
          .accepts =
              [](const Matmul::Arguments& a) { return a.x.size(0) > dot_rows && has_own_sources(a.weights.dtype()); },
          .prepared_bytes = [](const Matmul::Arguments& a) { return product->bytes(a); },
          .workspace_bytes = [](const Matmul::Arguments&) { return product->workspace_bytes; },
          .chunk_columns =
              [](const Matmul::Arguments& a) {  // sixteen chunks at least, so that threads finish together
                const std::int64_t few = a.weights.size(0) / (16 * panel_rows) * panel_rows;
                return std::clamp<std::int64_t>(few, panel_rows, product->chunk_columns);
              },
          .prepare = [](const Matmul::Arguments& a, Workers& workers,
                        std::byte* panels) { product->fill(a, workers, panels); },
          .multiply = [](const Matmul::Arguments& a, const std::byte* panels,
                         std::byte* workspace) { product->columns(a, panels, workspace); }};
}

// Many rows with bf16 weights by panels of bf16 numbers. `product` is null where it is not built.
template <const Bf16Product* const& product>
ColumnProduct bf16_row(std::string_view name, FeatureSet needs, SimdTarget target) {
  const Bf16Product sizes = product == nullptr ? Bf16Product{} : *product;
  return {.name = name,
          .needs = needs,
          .target = target,
          .built = product != nullptr,
          .accepts =
              [](const Matmul::Arguments& a) {
                return product != nullptr && a.x.size(0) >= product->least_rows && a.weights.dtype() == DType::bf16;
              },
          .accepts_alone = [](const Matmul::Arguments& a) { return a.weights.dtype() == DType::bf16; },
          .prepared_bytes = [](const Matmul::Arguments& a) { return bf16_panel_bytes(*product, a); },
          .workspace_bytes = [](const Matmul::Arguments&) { return product->workspace_bytes; },
          .chunk_columns = [](const Matmul::Arguments& a) { return bf16_chunk_columns(*product, a); },
          .chunk_rows = sizes.rows_at_once,
          .prepared_offset = bf16_panel_offset,
          .prepare = [](const Matmul::Arguments& a, Workers& workers,
                        std::byte* panels) { product->fill(a, workers, panels); },
          .multiply = [](const Matmul::Arguments& a, const std::byte* panels,
                         std::byte* workspace) { product->multiply(a, panels, workspace); }};
}

// About as many as dot products take, and so many that two threads end together: of 17 chunks one would get nine.
std::int64_t braid_chunk_columns(const Matmul::Arguments& a, std::int64_t chunk_bytes) {
  const DotProduct sizes{nullptr, nullptr, chunk_bytes};
  const std::int64_t braids = a.weights.size(0) / interleaved_rows;
  const std::int64_t about = dot_chunk_columns(sizes, gemm_of(a)) / interleaved_rows;
  std::int64_t best = about, least_share = braids + 1;
  for (std::int64_t length = about * 4 / 5; length <= about * 5 / 4; ++length) {
    const std::int64_t share = length * divide_rounding_up(divide_rounding_up(braids, length), 2);
    if (share >= least_share) continue;
    least_share = share;
    best = length;
  }
  return best * interleaved_rows;
}

// Weights in the interleaved layout, eight columns at a time. `find` gives null where the product is not built.
using FindBraids = const BraidProduct* (*)();

template <FindBraids find>
ColumnProduct interleaved_row(std::string_view name, FeatureSet needs, SimdTarget target) {
  return {.name = name,
          .needs = needs,
          .target = target,
          .built = find() != nullptr,
          .accepts = [](const Matmul::Arguments& a) { return is_interleaved(a) && find()->accepts(a); },
          .prepared_bytes = [](const Matmul::Arguments& a) { return find()->bytes(a); },
          .chunk_columns = [](const Matmul::Arguments& a) { return braid_chunk_columns(a, find()->chunk_bytes); },
          .rows_together = find() == nullptr ? nullptr : find()->rows_together,
          .prepare = [](const Matmul::Arguments& a, Workers& workers,
                        std::byte* prepared) { find()->prepare(a, workers, prepared); },
          .multiply = [](const Matmul::Arguments& a, const std::byte* prepared,
                         std::byte*) { find()->columns(a, prepared); }};
}
template <SimdTarget target>
const BraidProduct* braids_of_target() {
  return interleaved_simd[target];
}
template <const BraidProduct* const& product>
const BraidProduct* braids_of_source() {
  return product;
}

// The same for all formats and few rows of x: rows are put together as their format stores them, eight at a time.
template <FindDot find>
ColumnProduct gathered(ColumnProduct row, std::string_view name) {
  row.name = name;
  row.accepts = [](const Matmul::Arguments& a) { return is_interleaved(a) && a.x.size(0) <= dot_rows; };
  // Codes in registers are summed in another order where there is one row; see is_summed_alike_by_dots.
  row.accepts_alone = row.accepts_alone == nullptr ? nullptr : is_interleaved;
  row.workspace_bytes = [](const Matmul::Arguments& a) {
    return static_cast<std::size_t>(interleaved_rows * row_bytes(a.weights.dtype(), a.x.size(1)));
  };
  row.multiply = [](const Matmul::Arguments& a, const std::byte* prepared, std::byte* workspace) {
    const DotProduct& product = *find(a.weights.dtype());
    const AnyView rows(workspace, a.weights.dtype(), {interleaved_rows, a.x.size(1)});
    for (std::int64_t column = 0; column < a.y.size(1); column += interleaved_rows) {
      for (std::int64_t i = 0; i < interleaved_rows; ++i) gather_row(a.weights, column + i, rows.row(i));
      Matmul::Arguments some = columns_of(a, column, column + interleaved_rows);
      some.weights = rows;
      product.columns(gemm_of(some), prepared, 0, interleaved_rows);
    }
  };
  return row;
}

}  // namespace

// A way is a source of one of the rooms beside this and a row here. Where its architecture is not this build's, its
// product is null (not_built_on_*.cc) and its row stays listed as not built.
std::span<const ColumnProduct> column_products() {
  using enum Feature;
  constexpr SimdTarget wide = SimdTarget::avx512;
  static const ColumnProduct list[] = {
      codes_row<gemm_codes_avx512_vnni>("dot_avx512_vnni", {avx512, avx512_vnni}, wide),
      bf16_row<bf16_panels_amx>("panels_amx_bf16", {avx512, avx512_bf16, amx_bf16}, wide),
      bf16_row<bf16_panels_avx512>("panels_avx512_bf16", {avx512, avx512_bf16}, wide),
      even(lanes_row<lanes_avx512_vnni>("lanes_avx512_vnni", {avx512, avx512_vnni}, wide), is_block_format_in_rows,
           lane_rows_together),
      even(panel_row<panels_amx>("panels_amx_int8", {avx512, amx_int8}, wide), is_interleaved),
      even(panel_row<panels_avx512_vnni>("panels_avx512_vnni", {avx512, avx512_vnni}, wide), is_interleaved),
      lanes_row<lanes_avx_vnni>("lanes_avx_vnni", {avx2, avx_vnni}, SimdTarget::avx2),
      lanes_row<lanes_avx2>("lanes_avx2", {avx2}, SimdTarget::avx2),
      even(panel_row<panels_avx_vnni>("panels_avx_vnni", {avx2, avx_vnni}, SimdTarget::avx2), is_for_panels_of_lanes),
      even(panel_row<panels_avx2>("panels_avx2", {avx2}, SimdTarget::avx2), is_for_panels_of_lanes),
      even(lanes_row<lanes_even_avx_vnni>("lanes_even_avx_vnni", {avx2, avx_vnni}, SimdTarget::avx2),
           is_block_format_in_rows, lane_rows_together),
      even(lanes_row<lanes_even_avx2>("lanes_even_avx2", {avx2}, SimdTarget::avx2), is_block_format_in_rows,
           lane_rows_together),
      any_dot_row<SimdTarget::avx512>("dot_avx512", avx512),
      any_dot_row<SimdTarget::avx2>("dot_avx2", avx2),
      any_dot_row<SimdTarget::sse4>("dot_sse4", sse4),
      pairs_row<gemm_codes_neon_i8mm>("dot_neon_i8mm", {neon, dotprod, i8mm}, SimdTarget::neon),
      even(interleaved_row<braids_of_source<interleaved_neon_i8mm>>("interleaved_neon_i8mm", {neon, dotprod, i8mm},
                                                                    SimdTarget::neon),
           is_for_pairs_256),
      even(interleaved_row<braids_of_source<interleaved_even_neon_i8mm>>("interleaved_even_neon_i8mm",
                                                                         {neon, dotprod, i8mm}, SimdTarget::neon),
           is_for_even_pairs),
      even(interleaved_row<braids_of_source<interleaved_row_neon_i8mm>>("interleaved_row_neon_i8mm",
                                                                        {neon, dotprod, i8mm}, SimdTarget::neon),
           is_one_interleaved_row),
      even(panel_row<panels_neon_i8mm>("panels_neon_i8mm", {neon, dotprod, i8mm}, SimdTarget::neon),
           is_for_matrix_panels),
      even(codes_row<gemm_codes_neon_dotprod>("dot_neon_dotprod", {neon, dotprod}, SimdTarget::neon),
           is_summed_alike_by_dots, dot_rows_together),
      single_row<gemm_codes_neon_dotprod>("dot_single_neon_dotprod", {neon, dotprod}, SimdTarget::neon),
      even(panel_row<panels_neon_dotprod>("panels_neon_dotprod", {neon, dotprod}, SimdTarget::neon), is_interleaved),
      bf16_row<bf16_panels_neon>("panels_neon_bf16", {neon, bf16}, SimdTarget::neon),
      own_dot_row<gemm_dot_neon_bf16>("dot_neon_bf16", {neon, bf16}, has_few_rows_and_bf16, rounded_bytes),
      own_dot_row<gemm_dot_neon_fp16>("dot_neon_fp16", {neon, fp16}, has_few_rows_and_f16, halves_bytes),
      any_dot_row<SimdTarget::neon>("dot_neon", neon),
      interleaved_row<braids_of_source<interleaved_avx512_vnni>>("interleaved_avx512_vnni", {avx512, avx512_vnni},
                                                                 wide),
      interleaved_row<braids_of_target<wide>>("interleaved_avx512", {avx512}, wide),
      interleaved_row<braids_of_target<SimdTarget::avx2>>("interleaved_avx2", {avx2}, SimdTarget::avx2),
      interleaved_row<braids_of_target<SimdTarget::sse4>>("interleaved_sse4", {sse4}, SimdTarget::sse4),
      interleaved_row<braids_of_source<interleaved_neon_dotprod>>("interleaved_neon_dotprod", {neon, dotprod},
                                                                  SimdTarget::neon),
      interleaved_row<braids_of_target<SimdTarget::neon>>("interleaved_neon", {neon}, SimdTarget::neon),
      gathered<same_for_all<gemm_codes_avx512_vnni>>(codes_row<gemm_codes_avx512_vnni>("", {avx512, avx512_vnni}, wide),
                                                     "gathered_avx512_vnni"),
      gathered<of_target<SimdTarget::avx2>>(any_dot_row<SimdTarget::avx2>("", avx2), "gathered_avx2"),
      gathered<of_target<SimdTarget::sse4>>(any_dot_row<SimdTarget::sse4>("", sse4), "gathered_sse4"),
      gathered<same_for_all<gemm_codes_neon_dotprod>>(
          codes_row<gemm_codes_neon_dotprod>("", {neon, dotprod}, SimdTarget::neon), "gathered_neon_dotprod"),
      gathered<of_target<SimdTarget::neon>>(any_dot_row<SimdTarget::neon>("", neon), "gathered_neon"),
  };
  return list;
}

}  // namespace ingot
