// Pages of every type, heads of several blocks, partial and interleaved rotation, sections, in place.
#pragma once

#include "kernels/cache/cache_case_shapes.h"
#include "kernels/cache/rotated_store.h"

namespace ingot {

struct RotatedStoreShape {
  CacheShape keys;
  std::int64_t query_heads;
  std::int64_t rotary;
  PairStyle style = PairStyle::half_split;
  bool has_sections = false;
  bool in_place = false;
  std::int64_t value_width = 0;  // 0: as wide as keys
};

inline RotatedStorePaged::Arguments rotated_store_arguments(CaseBuilder& builder, const RotatedStoreShape& shape) {
  const CacheShape& keys = shape.keys;
  RotatedStorePaged::Arguments a;
  a.rotary_dimensions = shape.rotary;
  a.style = shape.style;
  const Fill near = Fill::integers(0, 5000);
  if (shape.has_sections) {
    const View<std::int32_t> sections = builder.blank<std::int32_t>({2});
    sections(0) = 1;
    sections(1) = static_cast<std::int32_t>(shape.rotary / 2 - 1);
    a.sections = sections;
    a.positions = builder.filled<std::int32_t>({2, keys.rows}, near);
  } else {
    a.positions = builder.filled<std::int32_t>({keys.rows}, near);
  }
  const View<float> first = builder.filled({keys.rows, shape.query_heads, keys.width});
  const View<float> second = builder.filled({keys.rows, keys.heads, keys.width});
  a.first = first;
  a.second = second;
  a.first_y = shape.in_place ? first : builder.blank({keys.rows, shape.query_heads, keys.width});
  a.second_y = shape.in_place ? second : builder.blank({keys.rows, keys.heads, keys.width});
  CacheShape values = keys;
  if (shape.value_width > 0) values.width = shape.value_width;
  a.values = builder.filled({values.rows, values.heads, values.width});
  const CachePlaces places = make_places(builder, keys, CachePolicy::paged);
  a.sequences = places.sequences;
  a.cache_positions = places.positions;
  a.block_table = make_block_table(builder, keys);
  a.k_pages = builder.filled_any(keys.dtype, keys.pages(), Fill::uniform(-2, 2));
  a.v_pages = builder.filled_any(values.dtype, values.pages(), Fill::uniform(-2, 2));
  return a;
}

inline void RotatedStorePaged::cases(CaseList<RotatedStorePaged>& list) {
  auto made = [](const RotatedStoreShape& shape) {
    return [shape](CaseBuilder& builder) { return rotated_store_arguments(builder, shape); };
  };
  for (const DType type : {DType::f32, DType::f16, DType::q8_0}) {
    const std::string of_type(name_of(type));
    list.parity("one token " + of_type, made({{type, 1, 1, 2, 64, 8, 2}, 4, 64}));
    list.parity("several blocks of heads " + of_type, made({{type, 5, 2, 11, 32, 7, 3}, 19, 32}));
    list.parity("partial, interleaved " + of_type, made({{type, 4, 2, 3, 96, 4, 3}, 6, 34, PairStyle::interleaved}));
    list.parity("in place " + of_type, made({{type, 3, 3, 2, 64, 4, 2}, 2, 64, PairStyle::half_split, false, true}));
  }
  list.parity("odd heads", made({{DType::f16, 5, 2, 3, 67, 7, 3}, 3, 14}));
  list.parity("sections", made({{DType::f32, 5, 2, 3, 40, 7, 3}, 3, 36, PairStyle::half_split, true}));
  list.parity("narrow values",
              made({{DType::q8_0, 5, 2, 3, 96, 7, 3}, 3, 96, PairStyle::half_split, false, false, 32}));
  list.parity("no tokens", made({{DType::f32, 0, 2, 2, 8, 4, 3}, 4, 8}));
  list.parity("no query heads", made({{DType::f32, 2, 2, 2, 8, 4, 3}, 0, 8}));
  list.benchmark("1 token, 32 and 8 heads of 64", made({{DType::f16, 1, 1, 8, 64, 64, 8}, 32, 64}));
}

}  // namespace ingot
