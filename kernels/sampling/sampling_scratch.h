// The host's side of SamplingRows: how large its scratch is, and where its parts lie.
#pragma once

#include "kernels/contract/context.h"
#include "kernels/device/windows.h"
#include "kernels/sampling/rows_cuda.h"
#include "kernels/sampling/weight.h"

namespace ingot::sampling {

inline std::uint32_t pieces_of(const View<const float>& logits) {
  return static_cast<std::uint32_t>(divide_rounding_up(logits.size(1), std::int64_t{sampling_piece}));
}
inline std::uint32_t blocks_of(const View<const float>& logits) {
  return static_cast<std::uint32_t>(divide_rounding_up(logits.size(1), block_tokens));
}

enum class Weights : std::uint8_t { unused, summed };

// The greatest of each piece, the sums of blocks where weights count, and a number of 8 bytes a row.
inline std::size_t device_scratch_bytes(const View<const float>& logits, Weights weights) {
  const std::size_t blocks = weights == Weights::summed ? blocks_of(logits) : 0;
  return static_cast<std::size_t>(logits.size(0)) * (pieces_of(logits) + blocks + 1) * sizeof(std::int64_t);
}

inline SamplingRows sampling_rows(const View<const float>& logits, Weights weights, Context& context) {
  SamplingRows rows = {.logits = device_rows(logits), .scratch = {}, .is_aligned = groups_are_aligned(logits)};
  rows.scratch.pieces = pieces_of(logits);
  rows.scratch.greatest = reinterpret_cast<std::int64_t*>(context.scratch.data());
  if (weights == Weights::summed) {
    rows.scratch.blocks = blocks_of(logits);
    rows.scratch.block_sums =
        reinterpret_cast<double*>(rows.scratch.greatest + std::uint64_t{rows.logits.count} * rows.scratch.pieces);
  }
  return rows;
}
// The number a row.
inline std::int64_t* numbers_of_rows(const SamplingRows& rows) {
  return rows.scratch.greatest + std::uint64_t{rows.logits.count} * (rows.scratch.pieces + rows.scratch.blocks);
}

// Blocks are counted in 32 bits.
inline bool fits_sampling(const View<const float>& logits) {
  return fits_device(logits.shape()) &&
         (logits.empty() || logits.size(0) < (std::int64_t{1} << 31) / blocks_of(logits));
}

// Fills the greatest of pieces, and the sums of blocks where there is room for them.
void prepare_rows(Queue& queue, const SamplingRows& rows);

}  // namespace ingot::sampling
