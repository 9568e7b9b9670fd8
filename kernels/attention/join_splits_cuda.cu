// Joins the splits of single tokens: the same sums as where a block joins its own, one after the other. What each
// weighs comes from the largest score up to it, which lanes find together; then only sums are left to be made in order.
#include "kernels/attention/attend_rows_device.h"

namespace ingot::device {
namespace {

constexpr unsigned batch_splits = 64;
constexpr unsigned join_threads = 128;

struct SharedShares {
  Shares shares[batch_splits];
  float sums[batch_splits];
};

// Shares of up to 64 splits, behind those whose largest score is given; returns the largest so far. One warp.
INGOT_ON_DEVICE float find_shares(const float* first, unsigned stride, unsigned count, float largest, bool is_of_2,
                                  SharedShares& shared) {
  for (unsigned at = 0; at < batch_splits; at += warp_size) {
    const unsigned split = at + lane_index();
    const bool is_there = split < count;
    const RowState unit =
        is_there ? RowState{first[split * stride], first[split * stride + 1]} : RowState{-infinity, 0};
    float up_to = maximum(largest, unit.maximum);
    INGOT_UNROLL
    for (unsigned distance = 1; distance < warp_size; distance *= 2) {
      const float below = shuffle_up(up_to, distance);
      if (lane_index() >= distance) up_to = maximum(below, up_to);
    }
    const float below = shuffle_up(up_to, 1);
    RowState before = {lane_index() == 0 ? largest : below, 0};
    if (is_there) {
      shared.shares[split] = is_of_2 ? join_split<PowersOf2>(before, unit.maximum, unit.sum)
                                     : join_split<PowersOfE>(before, unit.maximum, unit.sum);
      shared.sums[split] = unit.sum;
    }
    largest = shuffle_index(up_to, warp_size - 1);
  }
  return largest;
}

}  // namespace

// A block a head of a token.
INGOT_DEVICE_FUNCTION(join_attended_splits, AttendedRows, 128) {
  INGOT_SHARED SharedShares shared[1];
  const unsigned token = block_index() / parameters.q.sizes[1];
  const unsigned head = block_index() % parameters.q.sizes[1];
  const unsigned width = parameters.values.width;
  const DeviceKeys seen = parameters.seen_from(std::int64_t{parameters.lengths(token)} - 1);
  const std::uint32_t shift =
      parameters.by_matrix_units ? seen.split_length_shift(parameters.most_splits) : split_keys_shift;
  const unsigned splits =
      seen.begin == seen.end ? 0 : static_cast<unsigned>(((seen.end - 1) >> shift) - (seen.begin >> shift) + 1);
  if (parameters.by_matrix_units && splits == 1) return;  // who attended to it was the only one, and wrote y
  const unsigned stride = width + 2;
  for (unsigned first = 0; first < width; first += join_threads) {
    const unsigned dimension = first + thread_index();
    const bool is_mine = dimension < width;
    RowState state = first_state(parameters, head);
    float largest = state.maximum;
    float output = 0;
    for (unsigned at = 0; at < splits; at += batch_splits) {
      const float* const partial = parameters.partial(token, head, at);
      const unsigned count = splits - at < batch_splits ? splits - at : batch_splits;
      // Values are on their way before it is known what they weigh.
      constexpr unsigned under_way = 32;
      float added[under_way];
      const auto load = [&](unsigned split) {
        INGOT_UNROLL
        for (unsigned i = 0; i < under_way; ++i) {
          added[i] = is_mine && split + i < count ? partial[(split + i) * stride + dimension] : 0;
        }
      };
      load(0);
      synchronize_block();  // nobody still reads the batch before
      if (warp_index() == 0) {
        largest = find_shares(partial + width, stride, count, largest, parameters.by_matrix_units, shared[0]);
      }
      synchronize_block();
      for (unsigned split = 0; split < count; split += under_way) {
        if (split > 0) load(split);
        INGOT_UNROLL
        for (unsigned i = 0; i < under_way; ++i) {
          if (split + i >= count) break;
          const Shares shares = shared[0].shares[split + i];
          state.sum = fused_multiply_add(state.sum, shares.before, shared[0].sums[split + i] * shares.added);
          output = join_outputs(output, added[i], shares);
        }
      }
    }
    if (is_mine) parameters.y(0, head, token, dimension) = output * inverse_sum(state);
  }
}

}  // namespace ingot::device
