// Rows of x that are 8-bit codes already, as quantization.quantize_activations and norm.coded_rms_norm make them:
//
//   codes[M, K], scales[M, K / block], sums[M, K / 16] of the codes        block: 32, 64 or 256, that of the weights
//
// Products read x through here a block at a time, whether it is floats, which they encode, or codes.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/linear/simd_entries.h"
#include "tensor/block_codes.h"

namespace ingot {

// The codes of one block of activations and the sum of each 16 of them; returns the scale.
using EncodeFunction = float (*)(const float* x, int block, std::int8_t* codes, std::int32_t* sums);
extern const PerTarget<EncodeFunction> encode_activation_block;

// Strides are in elements, from row to row.
struct CodedX {
  const std::int8_t* codes = nullptr;
  const float* scales = nullptr;
  const std::int32_t* sums = nullptr;
  std::int64_t codes_stride = 0;
  std::int64_t scales_stride = 0;
  std::int64_t sums_stride = 0;

  bool is_given() const { return codes != nullptr; }
};

// One row of x, floats or codes.
class BlockReader {
 public:
  BlockReader(const CodedX& coded, const std::byte* floats, std::int64_t byte_stride, std::int64_t row,
              EncodeFunction encode)
      : encode_(encode) {
    if (!coded.is_given()) {
      x_ = reinterpret_cast<const float*>(floats + row * byte_stride);
      return;
    }
    codes_ = coded.codes + row * coded.codes_stride;
    scales_ = coded.scales + row * coded.scales_stride;
    sums_ = coded.sums + row * coded.sums_stride;
  }

  // The block from element `at` on; returns its scale.
  float read(std::int64_t at, int block, std::int8_t* codes, std::int32_t* sums) const {
    if (x_ != nullptr) return encode_(x_ + at, block, codes, sums);
    std::memcpy(codes, codes_ + at, static_cast<std::size_t>(block));
    std::memcpy(sums, sums_ + at / code_group, static_cast<std::size_t>(block / code_group) * sizeof(std::int32_t));
    return scales_[at / block];
  }

 private:
  EncodeFunction encode_;
  const float* x_ = nullptr;
  const std::int8_t* codes_ = nullptr;
  const float* scales_ = nullptr;
  const std::int32_t* sums_ = nullptr;
};

}  // namespace ingot
