// Reductions of rows: short ones by a warp each, others by a block, long ones in pieces that a second launch joins.
// Sums run in double, as in every variant; a greatest element is the greatest of ranked numbers
// (kernels/vector/order_key.h).
#include "kernels/elementwise/reduce_cuda.h"

#include "kernels/device/reduce.h"
#include "kernels/vector/order_key.h"

namespace ingot::device {
namespace {

INGOT_ON_DEVICE bool is_sum(ReductionKind kind) {
  return kind != ReductionKind::maximum && kind != ReductionKind::argmax;
}

template <class Team>
INGOT_ON_DEVICE double sum_of(const DeviceReduction& reduction, const float* row, unsigned begin, unsigned end) {
  double sum = 0;
  if (reduction.kind == ReductionKind::sum_of_squares) {
    for_own_elements<Team>(row, begin, end, reduction.is_aligned,
                           [&](float value, unsigned) { sum = fused_multiply_add(double{value}, double{value}, sum); });
  } else {
    for_own_elements<Team>(row, begin, end, reduction.is_aligned, [&](float value, unsigned) { sum += value; });
  }
  return Team::sum(sum);
}

template <class Team>
INGOT_ON_DEVICE std::int64_t greatest_of(const DeviceReduction& reduction, const float* row, unsigned begin,
                                         unsigned end) {
  std::int64_t greatest = INT64_MIN;
  for_own_elements<Team>(row, begin, end, reduction.is_aligned, [&](float value, unsigned index) {
    const std::int64_t one = ranked(order_key<NaNOrder::greatest>(value), index);
    greatest = one > greatest ? one : greatest;
  });
  return Team::maximum(greatest);
}

INGOT_ON_DEVICE void store_sum(const DeviceReduction& reduction, unsigned row, double sum) {
  const bool is_mean = reduction.kind == ReductionKind::mean;
  reduction.y[row] = static_cast<float>(is_mean ? sum / static_cast<double>(reduction.x.length) : sum);
}
INGOT_ON_DEVICE void store_greatest(const DeviceReduction& reduction, unsigned row, std::int64_t greatest) {
  const std::int64_t index = index_of(greatest);
  if (reduction.kind == ReductionKind::argmax) {
    reduction.indices[row] = static_cast<std::int32_t>(index);
  } else {
    reduction.y[row] = reduction.x.row(row)[index];
  }
}

}  // namespace

INGOT_DEVICE_FUNCTION(reduce_rows_by_warps, DeviceReduction, 256) {
  using Warp = Team<warp_size>;
  const unsigned row = Warp::row();
  if (row >= parameters.x.count) return;  // whole warps, and no barrier follows
  const float* const x = parameters.x.row(row);
  if (is_sum(parameters.kind)) {
    const double sum = sum_of<Warp>(parameters, x, 0, parameters.x.length);
    if (Warp::rank() == 0) store_sum(parameters, row, sum);
  } else {
    const std::int64_t greatest = greatest_of<Warp>(parameters, x, 0, parameters.x.length);
    if (Warp::rank() == 0) store_greatest(parameters, row, greatest);
  }
}

INGOT_DEVICE_FUNCTION(reduce_pieces_by_blocks, DeviceReduction, 256) {
  using Block = Team<256>;
  const unsigned row = block_index() / parameters.pieces;
  const unsigned begin = block_index() % parameters.pieces * reduced_piece;
  const unsigned left = parameters.x.length - begin;
  const unsigned end = begin + (left < reduced_piece ? left : reduced_piece);
  const float* const x = parameters.x.row(row);
  const bool is_whole = parameters.pieces == 1;
  if (is_sum(parameters.kind)) {
    const double sum = sum_of<Block>(parameters, x, begin, end);
    if (thread_index() != 0) return;
    if (is_whole) return store_sum(parameters, row, sum);
    static_cast<double*>(parameters.partials)[block_index()] = sum;
  } else {
    const std::int64_t greatest = greatest_of<Block>(parameters, x, begin, end);
    if (thread_index() != 0) return;
    if (is_whole) return store_greatest(parameters, row, greatest);
    static_cast<std::int64_t*>(parameters.partials)[block_index()] = greatest;
  }
}

INGOT_DEVICE_FUNCTION(reduce_partials, DeviceReduction, 256) {
  const unsigned row = block_index();
  const std::size_t first = std::size_t{row} * parameters.pieces;
  if (is_sum(parameters.kind)) {
    const double* const partials = static_cast<const double*>(parameters.partials) + first;
    double sum = 0;
    for (unsigned piece = thread_index(); piece < parameters.pieces; piece += thread_count()) sum += partials[piece];
    sum = block_sum(sum);
    if (thread_index() == 0) store_sum(parameters, row, sum);
  } else {
    const std::int64_t* const partials = static_cast<const std::int64_t*>(parameters.partials) + first;
    std::int64_t greatest = INT64_MIN;
    for (unsigned piece = thread_index(); piece < parameters.pieces; piece += thread_count()) {
      greatest = partials[piece] > greatest ? partials[piece] : greatest;
    }
    greatest = block_maximum(greatest);
    if (thread_index() == 0) store_greatest(parameters, row, greatest);
  }
}

}  // namespace ingot::device
