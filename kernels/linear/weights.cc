#include "kernels/linear/weights.h"

#include "kernels/vector/activation_codes.h"

namespace ingot {

Result<void> require_weights(std::string_view operation, std::string_view number, const ConstAnyView& weights,
                             const Shape& shape) {
  if (!is_floating_point(weights.dtype()) && !is_block_format(weights.dtype())) {
    return violated(operation, number, "expected weights of type f32, f16, bf16 or a block format, found ",
                    weights.dtype());
  }
  return require_packed(operation, number, "weights", weights, shape);
}

Result<void> require_packed(std::string_view operation, std::string_view number, std::string_view field,
                            const ConstAnyView& view, const Shape& shape) {
  TRY(require_shape(operation, number, field, view, shape));
  return require_contiguous_rows(operation, number, field, view);
}

double stored_bytes(const ConstAnyView& view) {
  return static_cast<double>(view.count()) / block_elements(view.dtype()) * block_bytes(view.dtype());
}

void encode_activation_row(const float* x, std::int8_t* codes, float* scales, std::int64_t length, int block) {
  for (std::int64_t begin = 0; begin < length; begin += block) {
    scales[begin / block] = encode_activations(x + begin, block, codes + begin);
  }
}

void round_to_codes(const float* x, float* values, std::int64_t length, int block) {
  std::int8_t codes[256];
  for (std::int64_t begin = 0; begin < length; begin += block) {
    const float scale = encode_activations(x + begin, block, codes);
    for (int i = 0; i < block; ++i) values[begin + i] = scale * static_cast<float>(codes[i]);
  }
}

void decode_activations(const CodedX& coded, std::int64_t row, float* values, std::int64_t length, int block) {
  const std::int8_t* codes = coded.codes + row * coded.codes_stride;
  const float* scales = coded.scales + row * coded.scales_stride;
  for (std::int64_t k = 0; k < length; ++k) values[k] = scales[k / block] * static_cast<float>(codes[k]);
}

}  // namespace ingot
