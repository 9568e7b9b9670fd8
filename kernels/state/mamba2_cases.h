// Shapes: one token (decoding), shared and separate projections, odd widths around vector lengths, no time, no batch;
// with and without skip and state; in place.
//
// Only x and the states follow the regime: the result is linear in them. Steps are positive and transitions negative,
// as in the model; a product of growing factors over time would overflow.
#pragma once

#include "kernels/state/mamba2.h"

namespace ingot {

struct Mamba2Case {
  std::int64_t batch, time, heads, width, head_groups, memories;
  bool with_skip = true;
  bool with_state = true;
  Shape state_shape() const { return {batch, heads, width, memories}; }
};

template <class Arguments>
void fill_mamba2(const Mamba2Case& one, CaseBuilder& builder, Arguments& a) {
  const Shape projection = {one.batch, one.time, one.head_groups, one.memories};
  a.x = builder.filled({one.batch, one.time, one.heads, one.width});
  a.delta = builder.filled({one.batch, one.time, one.heads}, Fill::uniform(0.05, 1));
  a.transition = builder.filled({one.heads}, Fill::uniform(-4, -0.1));
  a.input_projection = builder.filled(projection, Fill::uniform(-1, 1));
  a.output_projection = builder.filled(projection, Fill::uniform(-1, 1));
  if (one.with_skip) a.skip = builder.filled({one.heads}, Fill::uniform(-1, 1));
  if (one.with_state) a.initial_state = builder.filled(one.state_shape());
}

inline void Mamba2::cases(CaseList<Mamba2>& list) {
  auto build = [](const Mamba2Case& one, CaseBuilder& builder) {
    Arguments a;
    fill_mamba2(one, builder, a);
    a.y = builder.blank(a.x.shape());
    a.final_state = builder.blank(one.state_shape());
    return a;
  };
  auto of = [build](Mamba2Case one) { return [=](CaseBuilder& builder) { return build(one, builder); }; };
  list.parity("4 heads, 2 groups", of({2, 3, 4, 5, 2, 6}));
  list.parity("bare", of({1, 4, 2, 3, 2, 7, false, false}));
  list.parity("one of everything but sequences", of({6, 1, 1, 1, 1, 1}));
  for (std::int64_t memories : {8, 16, 33, 67, 300}) {
    list.parity("memories " + std::to_string(memories), of({1, 5, 2, 9, 1, memories}));
  }
  list.parity("decoding", of({2, 1, 4, 24, 1, 128}));
  list.parity("long", of({1, 90, 2, 4, 1, 20}));
  list.parity("no time", of({2, 0, 4, 5, 2, 20}));
  list.parity("no time, no state", of({2, 0, 4, 5, 2, 20, true, false}));
  list.parity("no batch", of({0, 3, 4, 5, 2, 20}));
  list.parity("in place", [build](CaseBuilder& builder) {
    Arguments a = build({2, 2, 4, 6, 1, 37, true, false}, builder);
    a.final_state = builder.filled({2, 4, 6, 37});
    a.initial_state = a.final_state;
    return a;
  });
  list.gradient("shared projections, skip and state", of({1, 3, 2, 2, 1, 3}));
  list.gradient("bare", of({2, 3, 2, 2, 2, 2, false, false}));
  list.benchmark("decode, 80 heads of 64 x 128", of({1, 1, 80, 64, 1, 128}));
  list.benchmark("prefill 128, 80 heads of 64 x 128", of({1, 128, 80, 64, 1, 128}));
}

inline void Mamba2Backward::cases(CaseList<Mamba2Backward>& list) {
  auto of = [](Mamba2Case one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      fill_mamba2(one, builder, a);
      a.dy = builder.filled(a.x.shape());
      a.dx = builder.blank(a.x.shape());
      a.ddelta = builder.blank(a.delta.shape());
      a.dtransition = builder.blank(a.transition.shape());
      a.dinput_projection = builder.blank(a.input_projection.shape());
      a.doutput_projection = builder.blank(a.output_projection.shape());
      if (one.with_skip) a.dskip = builder.blank({one.heads});
      if (one.with_state) {
        a.dfinal_state = builder.filled(one.state_shape());
        a.dinitial_state = builder.blank(one.state_shape());
      }
      return a;
    };
  };
  list.parity("4 heads, 2 groups", of({2, 3, 4, 3, 2, 5}));
  list.parity("bare", of({1, 4, 2, 3, 1, 4, false, false}));
  list.parity("no time", of({2, 0, 2, 3, 1, 4}));
  list.benchmark("64 tokens, 8 heads of 64 x 64", of({1, 64, 8, 64, 1, 64}));
}

}  // namespace ingot
