// One pair turned, for the device sources that turn heads: (a, b) -> (a c - b s, a s + b c). y may be x: a thread
// writes what it alone has read.
#pragma once

#include "kernels/device/groups.h"
#include "kernels/position/rope_cuda.h"

namespace ingot::device {

INGOT_ON_DEVICE void turn_pair(const float* x, float* y, std::uint32_t pair, const TurnedHeads& heads, float cosine,
                               float sine) {
  const std::uint32_t first = heads.is_interleaved ? 2 * pair : pair;
  const std::uint32_t second = heads.is_interleaved ? 2 * pair + 1 : pair + heads.pairs;
  const float a = x[first];
  const float b = x[second];
  y[first] = fused_multiply_add(-b, sine, a * cosine);
  y[second] = fused_multiply_add(b, cosine, a * sine);
}

// Groups of four pairs of heads whose halves are turned against each other. A thread has the same four pairs of every
// head that it takes, and so one turn of each; the first heads are on their way while turns are made.
template <class Prepare, class TurnOf>
INGOT_ON_DEVICE void turn_groups(const TurnedHeads& heads, std::uint32_t first_head, std::uint32_t count,
                                 std::uint32_t token, std::uint32_t begin, std::uint32_t groups, Prepare&& prepare,
                                 TurnOf&& turn) {
  constexpr unsigned under_way = 2;
  const std::uint32_t step = thread_count() / groups;  // heads at a time
  const std::uint32_t pair = begin + group_floats * (thread_index() % groups);
  const float* const x = heads.x + token * heads.x_token_stride + first_head * heads.x_head_stride;
  float* const y = heads.y + token * heads.y_token_stride + first_head * heads.y_head_stride;
  std::uint32_t head = thread_index() / groups;
  if (head >= step) head = count;  // threads that are left over
  float first[under_way][group_floats];
  float second[under_way][group_floats];
  const auto load = [&] {
    INGOT_UNROLL
    for (unsigned i = 0; i < under_way; ++i) {
      const std::uint32_t of = head + i * step;
      const float* const from = x + of * heads.x_head_stride + pair;
      const unsigned there = of < count ? group_floats : 0;
      load_group(first[i], from, 0, there, true);
      load_group(second[i], from + heads.pairs, 0, there, true);
    }
  };
  load();
  prepare();
  PairTurn turns[group_floats];
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) {
    turns[i] = turn(pair + i);
    if (heads.is_inverse) turns[i].sine = -turns[i].sine;
  }
  while (head < count) {
    INGOT_UNROLL
    for (unsigned i = 0; i < under_way; ++i) {
      const std::uint32_t of = head + i * step;
      if (of >= count) continue;
      INGOT_UNROLL
      for (unsigned j = 0; j < group_floats; ++j) {
        const float a = first[i][j];
        const float b = second[i][j];
        first[i][j] = fused_multiply_add(-b, turns[j].sine, a * turns[j].cosine);
        second[i][j] = fused_multiply_add(b, turns[j].cosine, a * turns[j].sine);
      }
      float* const to = y + of * heads.y_head_stride + pair;
      store_group(first[i], to, 0, group_floats, true);
      store_group(second[i], to + heads.pairs, 0, group_floats, true);
    }
    head += under_way * step;
    load();
  }
}

// The heads of a token that block number `block` of them has, `pairs` pairs from `begin` on. prepare() is called once,
// by all threads, before turn(pair) gives a pair's cosine and sine. The block that has pair 0 also copies what is not
// turned.
template <class Prepare, class TurnOf>
INGOT_ON_DEVICE void turn_heads_of_block(const TurnedHeads& heads, std::uint32_t block, std::uint32_t token,
                                         std::uint32_t begin, std::uint32_t pairs, Prepare&& prepare, TurnOf&& turn) {
  const std::uint32_t first_head = block * heads.heads_per_block;
  const std::uint32_t left = heads.heads - first_head;
  const std::uint32_t count = left < heads.heads_per_block ? left : heads.heads_per_block;
  const std::uint32_t rest = begin == 0 ? heads.width - 2 * heads.pairs : 0;
  const std::uint32_t groups = pairs / group_floats;
  const bool is_grouped = heads.is_grouped && groups <= thread_count();
  if (is_grouped) {
    turn_groups(heads, first_head, count, token, begin, groups, prepare, turn);
  } else {
    prepare();
  }
  const std::uint32_t turned = is_grouped ? 0 : pairs;  // that are left of a head
  const std::uint32_t per_head = turned + rest;
  for (std::uint32_t item = thread_index(); item < count * per_head; item += thread_count()) {
    const std::uint32_t head = first_head + item / per_head;
    const std::uint32_t place = item % per_head;
    const float* const x = heads.x + token * heads.x_token_stride + head * heads.x_head_stride;
    float* const y = heads.y + token * heads.y_token_stride + head * heads.y_head_stride;
    if (place < turned) {
      const PairTurn of_pair = turn(begin + place);
      turn_pair(x, y, begin + place, heads, of_pair.cosine, heads.is_inverse ? -of_pair.sine : of_pair.sine);
    } else {
      const std::uint32_t at = 2 * heads.pairs + place - turned;
      y[at] = x[at];
    }
  }
}

}  // namespace ingot::device
