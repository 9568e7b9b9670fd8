// Shapes as for unary activations; also the two halves of one projection, which interleave row by row.
#pragma once

#include <string>

#include "kernels/activation/gates.h"

namespace ingot {

template <class Gate>
void GatedActivation<Gate>::cases(CaseList<GatedActivation>& list) {
  auto filled_with = [](Shape shape, Fill gate, Fill up) {
    return [shape, gate, up](CaseBuilder& builder) {
      Arguments a;
      a.gate = builder.filled(shape, gate);
      a.up = builder.filled(shape, up);
      a.y = builder.blank(shape);
      return a;
    };
  };
  auto separate = [&](Shape shape) { return filled_with(shape, Fill::values(), Fill::values()); };
  for (std::int64_t width : {1, 16, 33, 1000}) list.parity("3 rows of " + std::to_string(width), separate({3, width}));
  list.parity("no axes", separate({}));
  list.parity("rank 3", separate({2, 3, 41}));
  list.parity("nothing", separate({4, 0}));
  list.parity("several chunks", separate({5, 4099}));
  list.parity("tails", filled_with({4, 250}, Fill::uniform(-110, 110), Fill::uniform(-4, 4)));
  list.parity("halves of one projection", [](CaseBuilder& builder) {
    Arguments a;
    const View<const float> both = builder.filled({7, 2 * 29});
    a.gate = View<const float>(both.data(), {7, 29}, both.strides());
    a.up = View<const float>(both.data() + 29, {7, 29}, both.strides());
    a.y = builder.blank({7, 29});
    return a;
  });
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> gate = builder.filled({5, 37});
    a.gate = gate;
    a.up = builder.filled({5, 37});
    a.y = gate;
    return a;
  });
  list.gradient("4 x 7", separate({4, 7}));
  list.benchmark("1 x 11008", separate({1, 11008}));
  list.benchmark("512 x 11008", separate({512, 11008}));
  // What no cache holds: one of them tells of all.
  if (name == "activation.swiglu") list.benchmark("16384 x 4096", separate({16384, 4096}));
}

template <class Gate>
void GatedActivationBackward<Gate>::cases(CaseList<GatedActivationBackward>& list) {
  auto filled_with = [](Shape shape, Fill gate, Fill up) {
    return [shape, gate, up](CaseBuilder& builder) {
      Arguments a;
      a.gate = builder.filled(shape, gate);
      a.up = builder.filled(shape, up);
      a.dy = builder.filled(shape, Fill::uniform(-1, 1));
      a.dgate = builder.blank(shape);
      a.dup = builder.blank(shape);
      return a;
    };
  };
  auto separate = [&](Shape shape) { return filled_with(shape, Fill::values(), Fill::values()); };
  for (std::int64_t width : {1, 16, 33, 1000}) list.parity("3 rows of " + std::to_string(width), separate({3, width}));
  list.parity("no axes", separate({}));
  list.parity("rank 3", separate({2, 3, 41}));
  list.parity("nothing", separate({4, 0}));
  list.parity("several chunks", separate({5, 4099}));
  list.parity("tails", filled_with({4, 250}, Fill::uniform(-110, 110), Fill::uniform(-4, 4)));
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> gate = builder.filled({5, 37});
    const View<float> up = builder.filled({5, 37});
    a.gate = gate;
    a.up = up;
    a.dy = builder.filled({5, 37}, Fill::uniform(-1, 1));
    a.dgate = gate;
    a.dup = up;
    return a;
  });
  list.benchmark("512 x 11008", separate({512, 11008}));
}

}  // namespace ingot
