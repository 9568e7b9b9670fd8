// Shapes: k of 1, of all and between, odd lengths, rank 1 to 4, no rows; rows full of ties; the smallest instead.
#pragma once

#include "kernels/elementwise/top_k.h"

namespace ingot {

inline Shape with_last_axis(Shape shape, std::int64_t size) {
  shape[shape.rank() - 1] = size;
  return shape;
}

inline void ElementwiseTopK::cases(CaseList<ElementwiseTopK>& list) {
  auto separate = [](Shape shape, std::int64_t k, bool largest = true, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape, fill);
      a.largest = largest;
      a.values = builder.blank(with_last_axis(shape, k));
      a.indices = builder.blank<std::int32_t>(with_last_axis(shape, k));
      return a;
    };
  };
  list.parity("3 of 37", separate({3, 37}, 3));
  list.parity("all of 19, smallest first", separate({2, 19}, 19, false));
  list.parity("8 of 64", separate({4, 64}, 8));
  list.parity("1 of 1", separate({3, 1}, 1));
  list.parity("1 of 130", separate({3, 130}, 1));
  list.parity("40 of 5000", separate({2, 5000}, 40));
  list.parity("the 5 smallest of 1000", separate({2, 1000}, 5, false));
  list.parity("5000 of 6001", separate({2, 6001}, 5000));
  list.parity("ties", separate({5, 83}, 31, true, Fill::integers(-2, 2)));
  list.parity("ties, smallest", separate({5, 83}, 31, false, Fill::integers(-2, 2)));
  list.parity("one row of rank 1", separate({65}, 7));
  list.parity("rank 4", separate({2, 3, 2, 40}, 4));
  list.parity("no rows", separate({0, 8}, 2));
  list.gradient("3 of 5", separate({2, 5}, 3));
  list.gradient("the 2 smallest of 7", separate({2, 7}, 2, false));
  list.benchmark("8 of 512 x 64", separate({512, 64}, 8));
  list.benchmark("40 of 151936", separate({1, 151936}, 40));
}

inline void ElementwiseTopKBackward::cases(CaseList<ElementwiseTopKBackward>& list) {
  auto separate = [](Shape shape, std::int64_t k) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.indices = builder.filled<std::int32_t>(with_last_axis(shape, k), Fill::indices(shape.last()));
      a.dvalues = builder.filled(with_last_axis(shape, k));
      a.dx = builder.blank(shape);
      return a;
    };
  };
  list.parity("3 of 37", separate({3, 37}, 3));
  list.parity("all of 19, some twice", separate({2, 19}, 19));
  list.parity("1 of 1", separate({3, 1}, 1));
  list.parity("40 of 5000", separate({2, 5000}, 40));
  list.parity("one row of rank 1", separate({65}, 7));
  list.parity("rank 4", separate({2, 3, 2, 40}, 4));
  list.parity("no rows", separate({0, 8}, 2));
  list.benchmark("8 of 512 x 64", separate({512, 64}, 8));
}

}  // namespace ingot
