// The scalar encoder with rows in parallel, for the formats whose search is long and not vectorised.
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/quantize.h"
#include "tensor/block_codec.h"

namespace ingot {

void quantize_threads(const Quantize::Arguments& arguments, Context& context) {
  const Rows x(arguments.x);
  const Rows blocks = byte_rows(arguments.blocks);
  context.workers.for_chunks(x.count(), 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      encode_row(arguments.blocks.dtype(), x[row], blocks[row], x.length());
    }
  });
}

}  // namespace ingot
