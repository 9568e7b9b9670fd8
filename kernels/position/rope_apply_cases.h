// Both styles and directions, with and without positions; partial rotation, odd head sizes; in place.
#pragma once

#include "kernels/position/rope_apply.h"

namespace ingot {

struct RopeApplyShape {
  Shape x;
  std::int64_t rotary = 2;
  PairStyle style = PairStyle::half_split;
  Direction direction = Direction::forward;
  std::int64_t rows = 0;  // 0: a row per token, and no positions
};

inline void fill_rope_apply(CaseBuilder& builder, const RopeApplyShape& shape, RopeApplyInputs& a) {
  const std::int64_t rows = shape.rows > 0 ? shape.rows : shape.x[0];
  a.cosine = builder.filled({rows, shape.rotary / 2}, Fill::uniform(-1, 1));
  a.sine = builder.filled({rows, shape.rotary / 2}, Fill::uniform(-1, 1));
  if (shape.rows > 0) a.positions = builder.filled<std::int32_t>({shape.x[0]}, Fill::indices(rows));
  a.style = shape.style;
  a.direction = shape.direction;
}

template <class Take>
void for_each_rope_apply_shape(Take&& take) {
  const PairStyle half = PairStyle::half_split;
  const PairStyle interleaved = PairStyle::interleaved;
  take("half split by positions", RopeApplyShape{{7, 3, 64}, 64, half, Direction::forward, 11});
  take("interleaved", RopeApplyShape{{5, 3, 64}, 64, interleaved});
  take("partial", RopeApplyShape{{3, 2, 19}, 14});
  take("interleaved, partial, inverse", RopeApplyShape{{4, 2, 27}, 22, interleaved, Direction::inverse, 5});
  take("inverse", RopeApplyShape{{4, 2, 66}, 66, half, Direction::inverse});
  take("one pair", RopeApplyShape{{2, 2, 3}, 2});
  take("many tokens", RopeApplyShape{{150, 4, 48}, 32});
  take("no tokens", RopeApplyShape{{0, 3, 8}, 8});
}

inline void RopeApply::cases(CaseList<RopeApply>& list) {
  auto made = [](const RopeApplyShape& shape, bool in_place = false) {
    return [shape, in_place](CaseBuilder& builder) {
      Arguments a;
      const View<float> x = builder.filled(shape.x);
      a.x = x;
      fill_rope_apply(builder, shape, a);
      a.y = in_place ? x : builder.blank(shape.x);
      return a;
    };
  };
  for_each_rope_apply_shape([&](const char* name, const RopeApplyShape& shape) { list.parity(name, made(shape)); });
  list.parity("in place", made({{5, 3, 40}, 34}, true));
  list.gradient("half split", made({{2, 2, 6}, 4, PairStyle::half_split, Direction::forward, 3}));
  list.gradient("interleaved", made({{2, 2, 6}, 6, PairStyle::interleaved}));
  list.benchmark("512 tokens, 32 heads of 128", made({{512, 32, 128}, 128}));
}

inline void RopeApplyBackward::cases(CaseList<RopeApplyBackward>& list) {
  auto made = [](const RopeApplyShape& shape, bool in_place = false) {
    return [shape, in_place](CaseBuilder& builder) {
      Arguments a;
      const View<float> dy = builder.filled(shape.x);
      a.dy = dy;
      fill_rope_apply(builder, shape, a);
      a.dx = in_place ? dy : builder.blank(shape.x);
      return a;
    };
  };
  for_each_rope_apply_shape([&](const char* name, const RopeApplyShape& shape) { list.parity(name, made(shape)); });
  list.parity("in place", made({{5, 3, 40}, 34}, true));
  list.benchmark("512 tokens, 32 heads of 128", made({{512, 32, 128}, 128}));
}

}  // namespace ingot
