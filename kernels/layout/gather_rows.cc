#include "kernels/layout/gather_rows.h"

#include "kernels/contract/describe.h"
#include "kernels/layout/constraints.h"
#include "kernels/layout/gather_rows_cases.h"

namespace ingot {
namespace {

bool gathers_floats(const GatherRows::Arguments& a) { return is_floating_point(a.table.dtype()); }

}  // namespace

Result<void> GatherRows::check(const Arguments& a) {
  if (!is_floating_point(a.table.dtype()) && !is_block_format(a.table.dtype())) {
    return violated(name, "C1", "expected table of type f32, f16, bf16 or a block format, found ", a.table.dtype());
  }
  TRY(require_indexed_rows(name, "table", a.table, a.indices, "y", a.y));
  return require_any_layout(name, "C5", "table", a.layout, a.table);
}

Cost GatherRows::cost(const Arguments& a) {
  const double row = static_cast<double>(row_bytes(a.table.dtype(), a.table.size(1)));
  const auto rows = static_cast<double>(a.indices.count());
  return {.bytes_read = rows * (row + 4), .bytes_written = bytes_of(a.y)};
}

Tolerance GatherRows::tolerance(const Arguments&) {
  return Tolerance::exact("decoding is what the stored bytes mean; nothing is rounded");
}

std::span<const Variant<GatherRows>> GatherRows::variants() {
  static const Variant<GatherRows> table[] = {
      gather_rows_cuda,
      INGOT_SIMD_ROWS(gather_rows_simd, gathers_floats),
      {"threads", {}, gather_rows_threads},
      {"reference", {}, gather_rows_reference},
  };
  return table;
}

Result<void> GatherRowsBackward::check(const Arguments& a) {
  return require_indexed_rows(name, "dtable", a.dtable, a.indices, "dy", a.dy);
}

Cost GatherRowsBackward::cost(const Arguments& a) {
  return {.operations = static_cast<double>(a.dy.count()),
          .bytes_read = bytes_of(a.dy) + bytes_of(a.indices),
          .bytes_written = bytes_of(a.dtable)};
}

Tolerance GatherRowsBackward::tolerance(const Arguments&) {
  return {
      .epsilons = 8, .scale = ErrorScale::tensor, .reason = "a float sum of the rows with one index, which may cancel"};
}

std::span<const Variant<GatherRowsBackward>> GatherRowsBackward::variants() {
  static const Variant<GatherRowsBackward> table[] = {
      INGOT_SIMD_ROWS(gather_rows_backward_simd),
      {"reference", {}, gather_rows_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<GatherRows>();
template const Operation& describe_operation<GatherRowsBackward>();

}  // namespace ingot
