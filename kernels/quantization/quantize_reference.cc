#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/quantize.h"
#include "tensor/block_codec.h"

namespace ingot {

void quantize_reference(const Quantize::Arguments& arguments, Context&) {
  const Rows x(arguments.x);
  const Rows blocks = byte_rows(arguments.blocks);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    encode_row(arguments.blocks.dtype(), x[row], blocks[row], x.length());
  }
}

}  // namespace ingot
