#include "kernels/linear/pack/pack.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/pack/pack_cases.h"
#include "kernels/linear/weights.h"
#include "tensor/planes.h"

namespace ingot {

namespace {

Result<void> check_layouts(std::string_view operation, WeightLayout layout, const ConstAnyView& rows,
                           const ConstAnyView& packed) {
  TRY(require_can_pack(operation, "C1", "rows", layout, rows));
  TRY(require_contiguous_rows(operation, "C1", "rows", rows));
  TRY(require_shape(operation, "C2", "packed", packed, rows.shape()));
  TRY(require_dtype(operation, "C2", "packed", packed, {rows.dtype()}));
  return require_contiguous(operation, "C2", "packed", packed);
}

Cost cost_of_moving(const ConstAnyView& rows) {
  return {.operations = 0, .bytes_read = stored_bytes(rows), .bytes_written = stored_bytes(rows)};
}

// Chunks of whole braids: function(first row, last row).
template <class Function>
void for_braid_chunks(const ConstAnyView& rows, Context& context, Function function) {
  const std::int64_t chunk = rows_per_chunk(interleaved_rows * row_bytes(rows.dtype(), rows.size(1)));
  context.workers.for_chunks(rows.size(0) / interleaved_rows, chunk, [&](std::int64_t begin, std::int64_t end, int) {
    function(begin * interleaved_rows, end * interleaved_rows);
  });
}

}  // namespace

Result<void> Pack::check(const Arguments& a) { return check_layouts(name, a.layout, a.rows, a.packed); }
Result<void> Unpack::check(const Arguments& a) { return check_layouts(name, a.layout, a.rows, a.packed); }
Cost Pack::cost(const Arguments& a) { return cost_of_moving(a.rows); }
Cost Unpack::cost(const Arguments& a) { return cost_of_moving(a.rows); }
Tolerance Pack::tolerance(const Arguments&) { return Tolerance::exact("bytes are moved"); }
Tolerance Unpack::tolerance(const Arguments&) { return Tolerance::exact("bytes are moved"); }

void pack_threads(const Pack::Arguments& a, Context& context) {
  for_braid_chunks(a.rows, context,
                   [&](std::int64_t begin, std::int64_t end) { interleave_rows(a.rows, begin, end, a.packed); });
}

void unpack_threads(const Unpack::Arguments& a, Context& context) {
  for_braid_chunks(a.rows, context, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) gather_row(a.packed, row, a.rows.row(row));
  });
}

namespace {

template <class Op>
bool is_interleaved8(const typename Op::Arguments& a) {
  return a.layout == WeightLayout::interleaved8;
}

}  // namespace

std::span<const Variant<Pack>> Pack::variants() {
  static const Variant<Pack> table[] = {
      pack_cuda, {"threads", {}, pack_threads, is_interleaved8<Pack>}, {"reference", {}, pack_reference}};
  return table;
}

std::span<const Variant<Unpack>> Unpack::variants() {
  static const Variant<Unpack> table[] = {
      unpack_cuda, {"threads", {}, unpack_threads, is_interleaved8<Unpack>}, {"reference", {}, unpack_reference}};
  return table;
}

template const Operation& describe_operation<Pack>();
template const Operation& describe_operation<Unpack>();

}  // namespace ingot
