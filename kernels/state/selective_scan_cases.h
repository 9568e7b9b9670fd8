// Shapes: one token (decoding), odd channels around vector widths, one memory and more than the vector variants take,
// no time, no batch; with and without skip and state; in place.
//
// Only x and the states follow the regime: the result is linear in them. Steps are positive and transitions negative,
// as in the model; a product of growing factors over time would overflow.
#pragma once

#include "kernels/state/selective_scan.h"

namespace ingot {

struct SelectiveScanCase {
  std::int64_t batch, time, channels, memories;
  bool with_skip = true;
  bool with_state = true;
  Shape state_shape() const { return {batch, channels, memories}; }
};

template <class Arguments>
void fill_selective_scan(const SelectiveScanCase& one, CaseBuilder& builder, Arguments& a) {
  const Shape projection = {one.batch, one.time, one.memories};
  a.x = builder.filled({one.batch, one.time, one.channels});
  a.delta = builder.filled({one.batch, one.time, one.channels}, Fill::uniform(0.05, 1));
  a.transition = builder.filled({one.channels, one.memories}, Fill::uniform(-4, -0.1));
  a.input_projection = builder.filled(projection, Fill::uniform(-1, 1));
  a.output_projection = builder.filled(projection, Fill::uniform(-1, 1));
  if (one.with_skip) a.skip = builder.filled({one.channels}, Fill::uniform(-1, 1));
  if (one.with_state) a.initial_state = builder.filled(one.state_shape());
}

inline void SelectiveScan::cases(CaseList<SelectiveScan>& list) {
  auto build = [](const SelectiveScanCase& one, CaseBuilder& builder) {
    Arguments a;
    fill_selective_scan(one, builder, a);
    a.y = builder.blank({one.batch, one.time, one.channels});
    a.final_state = builder.blank(one.state_shape());
    return a;
  };
  auto of = [build](SelectiveScanCase one) { return [=](CaseBuilder& builder) { return build(one, builder); }; };
  list.parity("2 x 3 x 5 x 4", of({2, 3, 5, 4}));
  list.parity("bare", of({1, 4, 3, 2, false, false}));
  list.parity("one of everything but sequences", of({6, 1, 1, 1}));
  for (std::int64_t channels : {7, 16, 33, 67}) {
    list.parity("channels " + std::to_string(channels), of({2, 5, channels, 16}));
  }
  list.parity("decoding", of({2, 1, 41, 16}));
  list.parity("long", of({1, 90, 9, 3}));
  list.parity("128 memories", of({1, 3, 18, 128}));
  list.parity("129 memories, more than the vector variants take", of({1, 2, 3, 129}));
  list.parity("no time", of({2, 0, 20, 4}));
  list.parity("no time, no state", of({2, 0, 20, 4, true, false}));
  list.parity("no batch", of({0, 3, 20, 4}));
  list.parity("in place", [build](CaseBuilder& builder) {
    Arguments a = build({2, 1, 21, 16, true, false}, builder);
    a.final_state = builder.filled({2, 21, 16});
    a.initial_state = a.final_state;
    return a;
  });
  list.gradient("skip and state", of({2, 3, 2, 2}));
  list.gradient("bare", of({1, 4, 3, 2, false, false}));
  list.benchmark("decode, 5120 x 16", of({1, 1, 5120, 16}));
  list.benchmark("prefill 256, 5120 x 16", of({1, 256, 5120, 16}));
}

inline void SelectiveScanBackward::cases(CaseList<SelectiveScanBackward>& list) {
  auto of = [](SelectiveScanCase one) {
    return [one](CaseBuilder& builder) {
      Arguments a;
      fill_selective_scan(one, builder, a);
      a.dy = builder.filled(a.x.shape());
      a.dx = builder.blank(a.x.shape());
      a.ddelta = builder.blank(a.x.shape());
      a.dtransition = builder.blank(a.transition.shape());
      a.dinput_projection = builder.blank(a.input_projection.shape());
      a.doutput_projection = builder.blank(a.output_projection.shape());
      if (one.with_skip) a.dskip = builder.blank({one.channels});
      if (one.with_state) {
        a.dfinal_state = builder.filled(one.state_shape());
        a.dinitial_state = builder.blank(one.state_shape());
      }
      return a;
    };
  };
  list.parity("2 x 4 x 5 x 3", of({2, 4, 5, 3}));
  list.parity("bare", of({1, 3, 2, 2, false, false}));
  list.parity("no time", of({2, 0, 3, 2}));
  list.benchmark("64 tokens, 512 x 16", of({1, 64, 512, 16}));
}

}  // namespace ingot
