#include "kernels/state/scan_cuda.h"

#include "kernels/device/numbers.h"
#include "kernels/device/warp.h"

// Budget of scan_rows: 72 registers. Eight memories of a lane, their transitions, and two projections of each.
namespace ingot::device {
namespace {

// A row: a channel of a head, and the memories that one of its lanes has.
struct ScanLane {
  unsigned batch, head, group, channel;
  bool is_there;
  unsigned rank;  // of the lane, among those of its row
};

INGOT_ON_DEVICE ScanLane lane_of(const ScannedRows& parameters) {
  const unsigned lanes = parameters.lanes;
  const unsigned row = (block_index() * thread_count() + thread_index()) / lanes;
  ScanLane lane;
  lane.is_there = row < parameters.rows;
  const unsigned place = lane.is_there ? row : 0;
  const unsigned channels = parameters.x.sizes[3];
  const unsigned heads = parameters.x.sizes[2];
  lane.channel = place % channels;
  lane.head = place / channels % heads;
  lane.group = lane.head / parameters.head_group;
  lane.batch = place / channels / heads;
  lane.rank = thread_index() % lanes;
  return lane;
}

// Memories from `first` on. Lanes without a row, or without a memory, go along: all take part in sums.
INGOT_ON_DEVICE void scan_memories(const ScannedRows& parameters, const ScanLane& lane, unsigned first) {
  float memories[lane_memories];
  float transitions[lane_memories];
  bool is_mine[lane_memories];
  INGOT_UNROLL
  for (unsigned i = 0; i < lane_memories; ++i) {
    const unsigned n = first + i * parameters.lanes + lane.rank;
    is_mine[i] = lane.is_there && n < parameters.memories;
    const bool has_state = is_mine[i] && parameters.initial_state.data != nullptr;
    memories[i] = has_state ? parameters.initial_state(lane.batch, lane.head, lane.channel, n) : 0;
    transitions[i] = is_mine[i] ? parameters.transition(lane.head, n) : 0;
  }
  const unsigned times = parameters.x.sizes[1];
  for (unsigned t = 0; t < times; ++t) {
    const float x = parameters.x(lane.batch, t, lane.head, lane.channel);
    const float delta = parameters.delta(lane.batch, t, lane.head);
    const float driven = delta * x;
    float sum = 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < lane_memories; ++i) {
      if (!is_mine[i]) continue;
      const unsigned n = first + i * parameters.lanes + lane.rank;
      const float kept = exponential(delta * transitions[i]) * memories[i];
      memories[i] = fused_multiply_add(driven, parameters.input_projection(lane.batch, t, lane.group, n), kept);
      sum = fused_multiply_add(parameters.output_projection(lane.batch, t, lane.group, n), memories[i], sum);
    }
    for (unsigned lanes = parameters.lanes / 2; lanes > 0; lanes /= 2) sum = sum + shuffle_xor(sum, lanes);
    if (!lane.is_there || lane.rank > 0) continue;
    float& y = parameters.y(lane.batch, t, lane.head, lane.channel);
    if (first > 0) {
      y = y + sum;
    } else {
      y = parameters.skip.data == nullptr ? sum : fused_multiply_add(parameters.skip(lane.head), x, sum);
    }
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < lane_memories; ++i) {
    const unsigned n = first + i * parameters.lanes + lane.rank;
    if (is_mine[i]) parameters.final_state(lane.batch, lane.head, lane.channel, n) = memories[i];
  }
}

}  // namespace

INGOT_DEVICE_FUNCTION(scan_rows, ScannedRows, 128) {
  const ScanLane lane = lane_of(parameters);
  for (unsigned first = 0; first < parameters.memories; first += lane_memories * parameters.lanes) {
    scan_memories(parameters, lane, first);
  }
}

}  // namespace ingot::device
