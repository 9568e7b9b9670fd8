#include "kernels/linear/pack.h"

#include <cstring>

#include "kernels/contract/describe.h"
#include "kernels/linear/interleaved.h"
#include "kernels/linear/pack_cases.h"
#include "kernels/linear/weights.h"

namespace ingot {

Result<void> require_interleaved(std::string_view operation, std::string_view number, std::string_view field,
                                 const ConstAnyView& view) {
  TRY(require_rank(operation, number, field, view, 2));
  TRY(require_dtype(operation, number, field, view, {DType::q4_0, DType::q8_0}));
  if (view.size(0) % interleaved_rows != 0) {
    return violated(operation, number, "expected ", field, " of whole eights of rows, found ", view.size(0), " rows");
  }
  return require_contiguous(operation, number, field, view);
}

void interleave_rows(const ConstAnyView& rows, std::int64_t begin, std::int64_t end, const AnyView& packed) {
  with_interleaved_type(rows.dtype(), [&]<class Block>() {
    const std::int64_t blocks = rows.size(1) / Block::elements;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t lane = row % interleaved_rows;
      const auto* from = reinterpret_cast<const Block*>(rows.row(row));
      auto* groups = reinterpret_cast<InterleavedBlocks<Block>*>(packed.data()) + row / interleaved_rows * blocks;
      for (std::int64_t b = 0; b < blocks; ++b) {
        groups[b].scales[lane] = from[b].scale;
        const std::byte* codes = reinterpret_cast<const std::byte*>(from + b) + sizeof(StoredHalf);
        for (auto& quads : groups[b].codes) {
          std::memcpy(quads[lane], codes, 4);
          codes += 4;
        }
      }
    }
  });
}

void gather_blocks(const ConstAnyView& packed, std::int64_t row, std::int64_t first, std::int64_t count,
                   std::byte* target) {
  with_interleaved_type(packed.dtype(), [&]<class Block>() {
    const std::int64_t lane = row % interleaved_rows;
    const std::int64_t blocks = packed.size(1) / Block::elements;
    const auto* groups =
        reinterpret_cast<const InterleavedBlocks<Block>*>(packed.data()) + row / interleaved_rows * blocks;
    for (std::int64_t b = first; b < first + count; ++b) {
      std::memcpy(target, &groups[b].scales[lane], sizeof(StoredHalf));
      target += sizeof(StoredHalf);
      for (const auto& quads : groups[b].codes) {
        std::memcpy(target, quads[lane], 4);
        target += 4;
      }
    }
  });
}

void gather_row(const ConstAnyView& packed, std::int64_t row, std::byte* target) {
  gather_blocks(packed, row, 0, packed.size(1) / block_elements(packed.dtype()), target);
}

namespace {

Result<void> check_layouts(std::string_view operation, const ConstAnyView& rows, const ConstAnyView& packed) {
  TRY(require_rank(operation, "C1", "rows", rows, 2));
  TRY(require_dtype(operation, "C1", "rows", rows, {DType::q4_0, DType::q8_0}));
  TRY(require_contiguous_rows(operation, "C1", "rows", rows));
  if (rows.size(0) % interleaved_rows != 0) {
    return violated(operation, "C1", "expected whole eights of rows, found ", rows.size(0), " rows");
  }
  TRY(require_shape(operation, "C2", "packed", packed, rows.shape()));
  TRY(require_dtype(operation, "C2", "packed", packed, {rows.dtype()}));
  return require_interleaved(operation, "C2", "packed", packed);
}

Cost cost_of_moving(const ConstAnyView& rows) {
  return {.operations = 0, .bytes_read = stored_bytes(rows), .bytes_written = stored_bytes(rows)};
}

// Chunks of whole groups: function(first row, last row).
template <class Function>
void for_group_chunks(const ConstAnyView& rows, Context& context, Function function) {
  const std::int64_t chunk = rows_per_chunk(interleaved_rows * row_bytes(rows.dtype(), rows.size(1)));
  context.workers.for_chunks(rows.size(0) / interleaved_rows, chunk, [&](std::int64_t begin, std::int64_t end, int) {
    function(begin * interleaved_rows, end * interleaved_rows);
  });
}

}  // namespace

Result<void> Pack::check(const Arguments& a) { return check_layouts(name, a.rows, a.packed); }
Result<void> Unpack::check(const Arguments& a) { return check_layouts(name, a.rows, a.packed); }
Cost Pack::cost(const Arguments& a) { return cost_of_moving(a.rows); }
Cost Unpack::cost(const Arguments& a) { return cost_of_moving(a.rows); }
Tolerance Pack::tolerance(const Arguments&) { return Tolerance::exact("bytes are moved"); }
Tolerance Unpack::tolerance(const Arguments&) { return Tolerance::exact("bytes are moved"); }

void pack_threads(const Pack::Arguments& a, Context& context) {
  for_group_chunks(a.rows, context,
                   [&](std::int64_t begin, std::int64_t end) { interleave_rows(a.rows, begin, end, a.packed); });
}

void unpack_threads(const Unpack::Arguments& a, Context& context) {
  for_group_chunks(a.rows, context, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) gather_row(a.packed, row, a.rows.row(row));
  });
}

std::span<const Variant<Pack>> Pack::variants() {
  static const Variant<Pack> table[] = {{"threads", {}, pack_threads}, {"reference", {}, pack_reference}};
  return table;
}

std::span<const Variant<Unpack>> Unpack::variants() {
  static const Variant<Unpack> table[] = {{"threads", {}, unpack_threads}, {"reference", {}, unpack_reference}};
  return table;
}

template const Operation& describe_operation<Pack>();
template const Operation& describe_operation<Unpack>();

}  // namespace ingot
