#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/dequantize.h"
#include "tensor/block_codec.h"

namespace ingot {

void dequantize_reference(const Dequantize::Arguments& arguments, Context&) {
  const Rows blocks = byte_rows(arguments.blocks);
  const Rows y(arguments.y);
  for (std::int64_t row = 0; row < y.count(); ++row) {
    decode_row(arguments.blocks.dtype(), blocks[row], y[row], y.length());
  }
}

}  // namespace ingot
