// A block a row. Rows that are not too long are kept in registers, eight neighbours a thread: of one row there is
// nothing to do while its numbers come, so that all that it takes is asked for at once. Of longer ones the squares are
// summed in the order of memory, then each warp makes codes of 256 elements at a time, which it reads again out of the
// first-level cache.
#include "kernels/norm/coded_rms_norm_cuda.h"

#include "kernels/device/octets.h"
#include "kernels/norm/prefetch_gamma.h"
#include "kernels/norm/row_sums_device.h"
#include "kernels/vector/activation_codes.h"

namespace ingot::device {
namespace {

// Codes of eight normalised elements from `at` on. All lanes take part.
INGOT_ON_DEVICE void encode_octet(const CodedRmsNormRows& parameters, float (&values)[octet], const float* gamma,
                                  unsigned row, unsigned at, float rstd) {
  const bool is_there = at < parameters.x.length;  // 0 times infinity: what is not there has no say
  INGOT_UNROLL
  for (unsigned i = 0; i < octet; ++i) values[i] = is_there ? gamma[i] * (values[i] * rstd) : 0;
  const ActivationScale made = activation_scale(largest_bits_of_block(values, parameters.block));
  std::int8_t coded[octet];
  INGOT_UNROLL
  for (unsigned i = 0; i < octet; ++i) coded[i] = activation_code(values[i], made.inverse);
  const std::int32_t sum = sum_of_sixteen(coded);
  if (!is_there) return;
  store_octet(coded, parameters.codes.row(row) + at);
  if (at % parameters.block == 0) parameters.scales.row(row)[at / parameters.block] = made.scale;
  if (at % 16 == 0) parameters.sums.row(row)[at / 16] = sum;
}

// A row's elements, and where their sums with the residual's are written.
struct RowOfSums {
  const float* x;
  const float* residual;  // null: there is none
  float* sum;
  unsigned length;
  bool is_aligned;

  INGOT_ON_DEVICE RowOfSums(const CodedRmsNormRows& parameters, unsigned row)
      : x(parameters.x.row(row)),
        residual(nullptr),
        sum(nullptr),
        length(parameters.x.length),
        is_aligned(parameters.is_aligned) {
    if (parameters.residual.data == nullptr) return;
    residual = parameters.residual.row(row);
    sum = parameters.sum.row(row);
  }
  struct Loaded {
    LoadedGroup x;
    LoadedGroup residual;
  };
  INGOT_ON_DEVICE Loaded load(unsigned at) const {
    Loaded loaded = {};
    load_group(loaded.x.values, x, at, length, is_aligned);
    if (residual != nullptr) load_group(loaded.residual.values, residual, at, length, is_aligned);
    return loaded;
  }
  INGOT_ON_DEVICE void take(const Loaded& loaded, float (&group)[group_floats], unsigned at) const {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      group[i] = residual != nullptr ? loaded.x.values[i] + loaded.residual.values[i] : loaded.x.values[i];
    }
    if (residual != nullptr) store_group(group, sum, at, length, is_aligned);
  }
  INGOT_ON_DEVICE const float* whole() const { return sum != nullptr ? sum : x; }
};

// A thread's eight of a row that its block keeps.
struct KeptOctet {
  static constexpr unsigned groups = octet / group_floats;
  float values[groups][group_floats];

  // Both rows are asked for before anything is written, since the sum may stand where one of them does.
  INGOT_ON_DEVICE KeptOctet(const RowOfSums& row, unsigned at) {
    RowOfSums::Loaded loaded[groups];
    INGOT_UNROLL
    for (unsigned i = 0; i < groups; ++i) loaded[i] = row.load(at + i * group_floats);
    INGOT_UNROLL
    for (unsigned i = 0; i < groups; ++i) row.take(loaded[i], values[i], at + i * group_floats);
  }
  // Of the row.
  INGOT_ON_DEVICE double sum_of_squares(float epsilon) const {
    SumOfSquares squares;
    INGOT_UNROLL
    for (unsigned i = 0; i < groups; ++i) squares.add(values[i]);
    const double sum = block_sum(squares.sum);
    if (SumOfSquares::is_sound(sum, epsilon)) return sum;
    SumOfSquares careful;
    INGOT_UNROLL
    for (unsigned i = 0; i < groups; ++i) careful.add_carefully(values[i]);
    return block_sum(careful.sum);
  }
};

}  // namespace

INGOT_DEVICE_FUNCTION_AFTER(coded_rms_norm_octets, CodedRmsNormRows, 1024, prefetch_gamma) {
  const RowOfSums row(parameters, block_index());
  const unsigned at = octet * thread_index();
  float gamma[octet];
  load_octet(gamma, parameters.gamma, at, row.length, row.is_aligned);
  const KeptOctet kept(row, at);
  const double mean = kept.sum_of_squares(parameters.epsilon) * parameters.factor;
  float values[octet];
  INGOT_UNROLL
  for (unsigned i = 0; i < octet; ++i) values[i] = kept.values[i / group_floats][i % group_floats];
  encode_octet(parameters, values, gamma, block_index(), at, reciprocal_root(mean, parameters.epsilon));
}

INGOT_DEVICE_FUNCTION_AFTER(coded_rms_norm_rows, CodedRmsNormRows, 256, prefetch_gamma) {
  const RowOfSums row(parameters, block_index());
  const unsigned length = parameters.x.length;
  const bool is_aligned = parameters.is_aligned;
  const float* const from = row.whole();
  const auto load = [&](unsigned at) { return row.load(at); };
  const auto take = [&](const RowOfSums::Loaded& loaded, float(&group)[group_floats], unsigned at) {
    row.take(loaded, group, at);
  };
  const auto load_again = [&](unsigned at) {
    LoadedGroup loaded;
    load_group(loaded.values, from, at, length, is_aligned);
    return loaded;
  };
  LongRow<256> walk = {length};
  // The sum over the block is a barrier too: what is read from here on, others have written.
  const double mean = sum_of_squares(walk, length, load, take, load_again, parameters.epsilon) * parameters.factor;
  const float rstd = reciprocal_root(mean, parameters.epsilon);
  for (unsigned begin = warp_index() * warp_size * octet; begin < length; begin += thread_count() * octet) {
    const unsigned at = begin + octet * lane_index();
    float values[octet];
    float gamma[octet];
    load_octet(values, from, at, length, is_aligned);
    load_octet(gamma, parameters.gamma, at, length, is_aligned);
    encode_octet(parameters, values, gamma, block_index(), at, rstd);
  }
}

}  // namespace ingot::device
