// Scalar truth. Sums run in double: a float sum of thousands of products is itself what is to be measured.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/linear/matmul/matmul.h"
#include "kernels/vector/half_rows.h"
#include "tensor/block_codec.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

// Codes are multiplied as the numbers that they stand for.
std::vector<double> decoded_row(const CodedX& coded, std::int64_t row, std::int64_t length, DType weight_type) {
  std::vector<double> values(static_cast<std::size_t>(length));
  const std::int8_t* codes = coded.codes + row * coded.codes_stride;
  const float* scales = coded.scales + row * coded.scales_stride;
  const int block = block_elements(weight_type);
  for (std::int64_t k = 0; k < length; ++k) values[static_cast<std::size_t>(k)] = double{scales[k / block]} * codes[k];
  return values;
}

// What a row of x is multiplied as: itself, rounded to bf16 or halves where the weights are, or scale * code where they
// are a block format.
std::vector<double> effective_row(const float* x, std::int64_t length, DType weight_type) {
  std::vector<double> row(x, x + length);
  if (weight_type == DType::bf16) {
    for (double& value : row) value = static_cast<float>(BFloat16(static_cast<float>(value)));
  }
  if (weight_type == DType::f16) round_to_halves(row);
  if (!is_block_format(weight_type)) return row;
  const int block = block_elements(weight_type);
  std::vector<std::int8_t> codes(row.size());
  std::vector<float> scales(row.size() / static_cast<std::size_t>(block));
  encode_activation_row(x, codes.data(), scales.data(), length, block);
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = double{scales[k / static_cast<std::size_t>(block)]} * codes[k];
  return row;
}

}  // namespace

void matmul_reference(const Matmul::Arguments& arguments, Context&) {
  const std::int64_t rows = arguments.shape()[0];
  const std::int64_t depth = arguments.shape()[1];
  const std::int64_t columns = arguments.weights.size(0);
  const DType type = arguments.weights.dtype();
  const bool is_packed = arguments.layout != WeightLayout::rows;
  if (rows == 0 || columns == 0) return;
  std::vector<std::vector<double>> x;
  for (std::int64_t m = 0; m < rows; ++m) {
    x.push_back(arguments.is_coded() ? decoded_row(arguments.coded(), m, depth, type)
                                     : effective_row(&arguments.x(m, 0), depth, type));
  }
  std::vector<float> weights(static_cast<std::size_t>(depth));
  std::vector<std::byte> gathered(is_packed ? static_cast<std::size_t>(row_bytes(type, depth)) : 0);
  for (std::int64_t n = 0; n < columns; ++n) {
    if (is_packed) gather_row(arguments.layout, arguments.weights, n, gathered.data());
    decode_row(type, is_packed ? gathered.data() : arguments.weights.row(n), weights.data(), depth);
    for (std::int64_t m = 0; m < rows; ++m) {
      double sum = 0;
      const double* row = x[static_cast<std::size_t>(m)].data();
      for (std::int64_t k = 0; k < depth; ++k) sum += row[k] * double{weights[static_cast<std::size_t>(k)]};
      if (is_present(arguments.bias)) sum += double{arguments.bias(n)};
      arguments.y(m, n) = static_cast<float>(sum);
    }
  }
}

}  // namespace ingot
