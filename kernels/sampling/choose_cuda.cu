// Greatest, weights and draws. Weights and the order of their sums are weight.h's, to the bit.
#include "kernels/sampling/rows_cuda.h"

#include "kernels/sampling/ranked_device.h"
#include "kernels/sampling/weight.h"

namespace ingot::device {
namespace {

constexpr auto block_size = static_cast<std::uint32_t>(sampling::block_tokens);

// The weights of one block, by all threads; zeros behind the row's end.
INGOT_ON_DEVICE void weigh_block(double* weights, const SamplingRows& parameters, std::uint32_t row,
                                 std::uint32_t block, float largest) {
  const float* const logits = parameters.logits.row(row);
  synchronize_block();  // nobody still reads the weights before these
  for (std::uint32_t i = thread_index(); i < block_size; i += thread_count()) {
    const std::uint32_t token = block * block_size + i;
    weights[i] = token < parameters.logits.length ? sampling::weight(logits[token], largest) : 0;
  }
  synchronize_block();
}

}  // namespace

INGOT_DEVICE_FUNCTION(find_greatest, SamplingRows, 256) {
  const std::uint32_t row = block_index() / parameters.scratch.pieces;
  const std::uint32_t piece = block_index() % parameters.scratch.pieces;
  const float* const logits = parameters.logits.row(row);
  const std::uint32_t length = parameters.logits.length;
  const std::uint32_t begin = piece * sampling_piece;
  std::int64_t greatest = INT64_MIN;
  for (std::uint32_t i = group_floats * thread_index(); i < sampling_piece; i += group_floats * thread_count()) {
    float group[group_floats];
    load_group(group, logits, begin + i, length, parameters.is_aligned);
    INGOT_UNROLL
    for (unsigned j = 0; j < group_floats; ++j) {
      if (begin + i + j < length) greatest = Greatest{}(greatest, rank_of(group[j], begin + i + j));
    }
  }
  greatest = block_maximum(greatest);
  if (thread_index() == 0) parameters.scratch.greatest[block_index()] = greatest;
}

// A block of weights each. Eight threads add them up, as their order is defined.
INGOT_DEVICE_FUNCTION(sum_weights, SamplingRows, 256) {
  INGOT_SHARED double weights[block_size];
  INGOT_SHARED double partial[sampling::partial_sums];
  const std::uint32_t row = block_index() / parameters.scratch.blocks;
  const std::uint32_t block = block_index() % parameters.scratch.blocks;
  const std::int64_t greatest = greatest_of(parameters.scratch, row);
  if (!is_candidate(greatest)) return;  // as all of its threads know
  weigh_block(weights, parameters, row, block, logit_of(greatest));
  if (thread_index() < sampling::partial_sums) {
    double sum = 0;
    for (std::uint32_t i = thread_index(); i < block_size; i += sampling::partial_sums) sum += weights[i];
    partial[thread_index()] = sum;
  }
  synchronize_block();
  if (thread_index() != 0) return;
  double sums[sampling::partial_sums];
  INGOT_UNROLL
  for (int i = 0; i < sampling::partial_sums; ++i) sums[i] = partial[i];
  parameters.scratch.block_sums[block_index()] = sampling::join_partial_sums(sums);
}

INGOT_DEVICE_FUNCTION(choose_greatest, ChosenTokens, 256) {
  const std::int64_t greatest = greatest_of(parameters.rows.scratch, block_index());
  if (thread_index() != 0) return;
  parameters.tokens[block_index()] = is_candidate(greatest) ? static_cast<std::int32_t>(index_of(greatest)) : -1;
}

// A block a row. One thread adds up what has an order; all of them compute the weights that it adds.
INGOT_DEVICE_FUNCTION(draw_tokens, ChosenTokens, 256) {
  INGOT_SHARED double weights[block_size];
  INGOT_SHARED std::uint32_t entered;
  INGOT_SHARED double before_entered;
  INGOT_SHARED double target;
  const std::uint32_t row = block_index();
  const SamplingScratch& scratch = parameters.rows.scratch;
  const std::int64_t greatest = greatest_of(scratch, row);
  if (!is_candidate(greatest)) {
    if (thread_index() == 0) parameters.tokens[row] = -1;
    return;
  }
  if (thread_index() == 0) {
    const double* const sums = scratch.block_sums + std::uint64_t{row} * scratch.blocks;
    double total = 0;
    for (std::uint32_t block = 0; block < scratch.blocks; ++block) total += sums[block];
    const double wanted = static_cast<double>(parameters.uniform[row]) * total;
    std::uint32_t block = 0;
    double before = 0;
    while (block + 1 < scratch.blocks && !(before + sums[block] > wanted)) before += sums[block++];
    entered = block;
    before_entered = before;
    target = wanted;
  }
  synchronize_block();
  weigh_block(weights, parameters.rows, row, entered, logit_of(greatest));
  if (thread_index() != 0) return;
  double cumulative = before_entered;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < block_size; ++i) {
    cumulative += weights[i];
    if (weights[i] > 0) last = i;
    if (cumulative > target) break;
  }
  parameters.tokens[row] = static_cast<std::int32_t>(entered * block_size + last);
}

}  // namespace ingot::device
