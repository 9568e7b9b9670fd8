// Any bytes decode and any numbers encode, in every format, without undefined behaviour; what was encoded decodes to
// finite numbers where the input was finite and of ordinary size.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "tensor/block_codec.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  const DTypeInformation& format =
      dtype_table[static_cast<std::size_t>(source.take_between(0, static_cast<std::int64_t>(dtype_table.size()) - 1))];
  if (!is_block_format(format.dtype) && !is_floating_point(format.dtype)) return 0;
  const std::int64_t count = 2 * format.block_elements;
  std::vector<std::byte> blocks(static_cast<std::size_t>(2 * format.block_bytes));
  std::vector<float> values(static_cast<std::size_t>(count));
  if (source.take_between(0, 1) == 0 || !has_encoder(format.dtype)) {
    for (std::byte& byte : blocks) byte = std::byte{source.take<std::uint8_t>()};
    decode_row(format.dtype, blocks.data(), values.data(), count);
    return 0;
  }
  bool is_tame = true;
  for (float& value : values) {
    value = source.take<float>();
    is_tame = is_tame && std::isfinite(value) && std::fabs(value) < 1e4f;
  }
  encode_row(format.dtype, values.data(), blocks.data(), count);
  decode_row(format.dtype, blocks.data(), values.data(), count);
  for (float value : values) {
    if (is_tame && !std::isfinite(value)) std::abort();
  }
  return 0;
}
