// Indices that repeat and that are missing; with a base, without one, in place; rows around every vector width.
#pragma once

#include "kernels/layout/scatter_add.h"

namespace ingot {

inline void ScatterAdd::cases(CaseList<ScatterAdd>& list) {
  enum class Base : std::uint8_t { none, separate, same };
  auto scatter = [](std::int64_t rows, std::int64_t width, Shape indices, Base base) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.indices = builder.filled<std::int32_t>(indices, Fill::indices(rows), Packing::contiguous);
      Shape shape = indices;
      shape.push_back(width);
      a.x = builder.filled(shape);
      const View<float> table = base == Base::none ? View<float>() : builder.filled({rows, width});
      a.base = table;
      a.y = base == Base::same ? table : builder.blank({rows, width});
      return a;
    };
  };
  list.parity("12 into 5 rows of 37", scatter(5, 37, {12}, Base::separate));
  list.parity("2 x 3 into 7 rows of 600, without a base", scatter(7, 600, {2, 3}, Base::none));
  list.parity("in place", scatter(7, 67, {9}, Base::same));
  for (std::int64_t width : {1, 16, 257}) {
    list.parity("4 into 3 rows of " + std::to_string(width), scatter(3, width, {4}, Base::separate));
  }
  list.parity("700 into 5 rows of 1100", scatter(5, 1100, {700}, Base::separate));
  list.parity("one index without an axis", scatter(3, 19, {}, Base::separate));
  list.parity("no index", scatter(3, 8, {0}, Base::separate));
  list.gradient("5 into 3 rows", scatter(3, 4, {5}, Base::separate));
  list.gradient("without a base", scatter(2, 3, {2, 2}, Base::none));
  list.benchmark("512 into 1024 x 2048, in place", scatter(1024, 2048, {512}, Base::same));
}

inline void ScatterAddBackward::cases(CaseList<ScatterAddBackward>& list) {
  enum class Base : std::uint8_t { none, separate, same };
  auto gather = [](std::int64_t rows, std::int64_t width, Shape indices, Base base) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.indices = builder.filled<std::int32_t>(indices, Fill::indices(rows), Packing::contiguous);
      Shape shape = indices;
      shape.push_back(width);
      const View<float> dy = builder.filled({rows, width});
      a.dy = dy;
      a.dx = builder.blank(shape);
      if (base != Base::none) a.dbase = base == Base::same ? dy : builder.blank({rows, width});
      return a;
    };
  };
  list.parity("12 from 5 rows of 37", gather(5, 37, {12}, Base::separate));
  list.parity("2 x 3 from 7 rows of 600, without a base", gather(7, 600, {2, 3}, Base::none));
  list.parity("in place", gather(7, 67, {9}, Base::same));
  list.benchmark("512 from 1024 x 2048", gather(1024, 2048, {512}, Base::none));
}

}  // namespace ingot
