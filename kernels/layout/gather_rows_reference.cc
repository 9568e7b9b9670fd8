#include "kernels/layout/gather_rows.h"

#include <algorithm>

#include "kernels/layout/scatter_add.h"
#include "tensor/block_codec.h"
#include "tensor/rows.h"

namespace ingot {

namespace {

// Blocks that are put together before they are decoded: on the stack, and few calls a row.
constexpr std::int64_t gathered_elements = 2048;

void decode_table_row(const GatherRows::Arguments& a, std::int64_t index, float* y, std::int64_t length) {
  if (a.layout == WeightLayout::rows) return decode_row(a.table.dtype(), a.table.row(index), y, length);
  const std::int64_t block = block_elements(a.table.dtype());
  std::byte gathered[gathered_elements * 2];  // no block format has two bytes an element
  for (std::int64_t at = 0; at < length; at += gathered_elements) {
    const std::int64_t count = std::min(gathered_elements, length - at);
    gather_blocks(a.layout, a.table, index, at / block, count / block, gathered);
    decode_row(a.table.dtype(), gathered, y + at, count);
  }
}

}  // namespace

void gather_rows_reference(const GatherRows::Arguments& arguments, Context&) {
  if (arguments.y.empty()) return;
  const Rows y(arguments.y);
  for (std::int64_t i = 0; i < y.count(); ++i) {
    decode_table_row(arguments, arguments.indices.data()[i], y[i], y.length());
  }
}

// The reference's loop on all threads: what there is for block formats, whose decoders are scalar.
void gather_rows_threads(const GatherRows::Arguments& arguments, Context& context) {
  if (arguments.y.empty()) return;
  const Rows y(arguments.y);
  // Decoding costs about a nanosecond an element, so a chunk is worth a thread sooner than one that streams.
  const std::int64_t chunk = rows_per_chunk(y.length() * static_cast<std::int64_t>(sizeof(float)), 32 << 10);
  context.workers.for_chunks(y.count(), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      decode_table_row(arguments, arguments.indices.data()[i], y[i], y.length());
    }
  });
}

void gather_rows_backward_reference(const GatherRowsBackward::Arguments& arguments, Context&) {
  add_rows_reference({}, arguments.dy, arguments.indices, arguments.dtable);
}

}  // namespace ingot
