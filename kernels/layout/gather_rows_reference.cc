#include "kernels/layout/gather_rows.h"

#include "kernels/layout/scatter_add.h"
#include "tensor/block_codec.h"
#include "tensor/rows.h"

namespace ingot {

void gather_rows_reference(const GatherRows::Arguments& arguments, Context&) {
  if (arguments.y.empty()) return;
  const Rows y(arguments.y);
  for (std::int64_t i = 0; i < y.count(); ++i) {
    decode_row(arguments.table.dtype(), arguments.table.row(arguments.indices.data()[i]), y[i], y.length());
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
      decode_row(arguments.table.dtype(), arguments.table.row(arguments.indices.data()[i]), y[i], y.length());
    }
  });
}

void gather_rows_backward_reference(const GatherRowsBackward::Arguments& arguments, Context&) {
  add_rows_reference({}, arguments.dy, arguments.indices, arguments.dtable);
}

}  // namespace ingot
