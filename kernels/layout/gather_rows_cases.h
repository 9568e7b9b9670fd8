// Every type a table may have; rows around every vector width; repeated indices, one index, none at all.
#pragma once

#include "kernels/layout/gather_rows.h"

namespace ingot {

inline void GatherRows::cases(CaseList<GatherRows>& list) {
  auto gather = [](DType dtype, std::int64_t rows, std::int64_t width, Shape indices, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.table = builder.filled_any(dtype, {rows, width}, fill);
      a.indices = builder.filled<std::int32_t>(indices, Fill::indices(rows), Packing::contiguous);
      Shape shape = indices;
      shape.push_back(width);
      a.y = builder.blank(shape);
      return a;
    };
  };
  list.parity("7 rows of 37", gather(DType::f32, 7, 37, {5}));
  for (const DTypeInformation& row : dtype_table) {
    if (!is_floating_point(row.dtype) && row.block_elements == 1) continue;
    const std::string type(row.name);
    if (row.block_elements > 1) {
      list.parity("2 x 3 of 5 rows " + type,
                  gather(row.dtype, 5, 2 * row.block_elements, {2, 3}, Fill::uniform(-2, 2)));
    } else {
      for (std::int64_t width : {1, 67, 1030}) {
        list.parity("2 x 3 of 5 rows of " + std::to_string(width) + " " + type, gather(row.dtype, 5, width, {2, 3}));
      }
    }
  }
  for (const DType dtype : interleaved_types) {
    for (const std::int64_t blocks : {1, 9}) {
      const std::int64_t width = blocks * block_elements(dtype);
      list.parity("3 of 16 interleaved rows of " + std::to_string(width) + " " + std::string(name_of(dtype)),
                  [=](CaseBuilder& builder) {
                    Arguments a = gather(dtype, 16, width, {3}, Fill::uniform(-2, 2))(builder);
                    const AnyView packed = builder.blank_any(dtype, a.table.shape(), Packing::contiguous);
                    interleave_rows(a.table, 0, a.table.size(0), packed);
                    a.table = packed;
                    a.layout = WeightLayout::interleaved8;
                    return a;
                  });
    }
  }
  for (const DType dtype : plane_types) {
    list.parity("5 of 32 rows in planes of 512 " + std::string(name_of(dtype)), [=](CaseBuilder& builder) {
      Arguments a = gather(dtype, 32, 512, {5}, Fill::uniform(-2, 2))(builder);
      const AnyView packed = builder.blank_any(dtype, a.table.shape(), Packing::contiguous);
      lay_planes(a.table, 0, a.table.size(0), packed);
      a.table = packed;
      a.layout = WeightLayout::planes16;
      return a;
    });
  }
  list.parity("one index without an axis", gather(DType::f16, 3, 19, {}));
  list.parity("no index", gather(DType::f32, 3, 8, {0}));
  list.gradient("5 of 3 rows", gather(DType::f32, 3, 4, {5}));
  list.benchmark("512 of 32000 x 2048 f16", gather(DType::f16, 32000, 2048, {512}, Fill::constant(0.5)));
  list.benchmark("512 of 8000 x 4096 f32", gather(DType::f32, 8000, 4096, {512}, Fill::constant(0.5)));
}

inline void GatherRowsBackward::cases(CaseList<GatherRowsBackward>& list) {
  auto collect = [](std::int64_t rows, std::int64_t width, Shape indices) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.indices = builder.filled<std::int32_t>(indices, Fill::indices(rows), Packing::contiguous);
      Shape shape = indices;
      shape.push_back(width);
      a.dy = builder.filled(shape);
      a.dtable = builder.blank({rows, width});
      return a;
    };
  };
  list.parity("12 into 5 rows of 37", collect(5, 37, {12}));
  list.parity("2 x 3 into 7 rows of 600", collect(7, 600, {2, 3}));
  list.parity("one index without an axis", collect(3, 19, {}));
  list.parity("no index", collect(3, 8, {0}));
  list.benchmark("512 into 8000 x 2048", collect(8000, 2048, {512}));
}

}  // namespace ingot
