// Shapes: no axes, a single element, odd lengths around every vector width, several ranks, no elements, more than one
// chunk; in place; and arguments far out in the tails, where a curve's result is a denormal or nothing.
#pragma once

#include <string>

#include "kernels/activation/unary_activation.h"

namespace ingot {

template <class Curve>
void UnaryActivation<Curve>::cases(CaseList<UnaryActivation>& list) {
  auto filled_with = [](Shape shape, Fill fill) {
    return [shape, fill](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape, fill);
      a.y = builder.blank(shape);
      return a;
    };
  };
  auto separate = [&](Shape shape) { return filled_with(shape, Fill::values()); };
  for (std::int64_t width : {1, 7, 16, 33, 67, 1000}) {
    list.parity("3 rows of " + std::to_string(width), separate({3, width}));
  }
  list.parity("no axes", separate({}));
  list.parity("rank 1", separate({65}));
  list.parity("rank 4", separate({2, 3, 2, 20}));
  list.parity("nothing", separate({4, 0}));
  list.parity("several chunks", separate({5, 4099}));
  list.parity("around zero", filled_with({4, 250}, Fill::uniform(-12, 12)));
  list.parity("tails", filled_with({4, 250}, Fill::uniform(-110, 110)));
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a;
    const View<float> x = builder.filled({5, 37});
    a.x = x;
    a.y = x;
    return a;
  });
  list.gradient("4 x 7", [separate](CaseBuilder& builder) {
    Arguments a = separate({4, 7})(builder);
    // A kink must not lie where the finite differences look.
    if constexpr (requires { Curve::gradient_parameters; }) {
      static_cast<typename Curve::Parameters&>(a) = Curve::gradient_parameters;
    }
    return a;
  });
  list.benchmark("1 x 11008", separate({1, 11008}));
  list.benchmark("512 x 11008", separate({512, 11008}));
}

template <class Curve>
void UnaryActivationBackward<Curve>::cases(CaseList<UnaryActivationBackward>& list) {
  auto filled_with = [](Shape shape, Fill fill) {
    return [shape, fill](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape, fill);
      a.dy = builder.filled(shape, Fill::uniform(-1, 1));
      a.dx = builder.blank(shape);
      return a;
    };
  };
  auto separate = [&](Shape shape) { return filled_with(shape, Fill::values()); };
  for (std::int64_t width : {1, 16, 33, 1000}) list.parity("3 rows of " + std::to_string(width), separate({3, width}));
  list.parity("no axes", separate({}));
  list.parity("rank 3", separate({2, 3, 41}));
  list.parity("nothing", separate({4, 0}));
  list.parity("several chunks", separate({5, 4099}));
  list.parity("around zero", filled_with({4, 250}, Fill::uniform(-12, 12)));
  list.parity("tails", filled_with({4, 250}, Fill::uniform(-110, 110)));
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a;
    a.x = builder.filled({5, 37});
    const View<float> dy = builder.filled({5, 37}, Fill::uniform(-1, 1));
    a.dy = dy;
    a.dx = dy;
    return a;
  });
  list.benchmark("512 x 11008", separate({512, 11008}));
}

}  // namespace ingot
