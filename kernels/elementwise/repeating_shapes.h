// Shapes that an operation of two tensors and its backward operations are both tried with: odd lengths around every
// vector width, and the ways of repeating b over a, which a gradient is summed back along.
#pragma once

#include <string>

#include "kernels/contract/case_list.h"

namespace ingot {

// separate(shape of a, shape of b) makes what builds a case.
template <class Op, class Separate>
void add_repeating_shapes(CaseList<Op>& list, Separate separate) {
  list.parity("3 x 37", separate({3, 37}, {3, 37}));
  list.parity("3 x 37 and a row", separate({3, 37}, {37}));
  list.parity("2 x 3 x 5 x 7 and a channel", separate({2, 3, 5, 7}, {3, 1, 1}));
  for (std::int64_t width : {1, 3, 16, 67, 129}) {
    list.parity("width " + std::to_string(width), separate({width}, {width}));
  }
  list.parity("one number", separate({4, 19}, {1}));
  list.parity("a number of rank 0", separate({4, 19}, {}));
  list.parity("last axis of 1", separate({9, 1}, {9, 1}));
  list.parity("rank 6, outer and inner axes repeat", separate({2, 1, 3, 2, 1, 5}, {2, 1, 1, 2, 1, 1}));
  list.parity("a middle axis repeats", separate({2, 3, 24}, {2, 1, 24}));
  list.parity("no rows", separate({0, 8}, {8}));
}

}  // namespace ingot
