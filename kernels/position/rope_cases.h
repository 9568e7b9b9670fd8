// Every style, scaling and direction; partial rotation, odd head sizes around vector lengths, sections, far positions.
#pragma once

#include "kernels/position/rope.h"

namespace ingot {

struct RopeShape {
  Shape x;
  std::int64_t rotary = 2;
  PairStyle style = PairStyle::half_split;
  RopeScaling scaling = RopeScaling::none;
  std::vector<std::int32_t> sections = {};
  Direction direction = Direction::forward;
  bool factors = false;
  double farthest = 5000;
  bool heads_outside = false;  // [heads, tokens, D] in memory
  bool whole_ramp = true;
};

inline void fill_rotation(RotationAttributes& a, std::int64_t rotary, RopeScaling scaling) {
  a.rotary_dimensions = rotary;
  a.base = scaling == RopeScaling::llama3 ? 500000.0f : 10000.0f;
  a.scaling = scaling;
  a.factor = scaling == RopeScaling::none ? 1.0f : 8.0f;
  a.original_context = 2048;
}

inline void fill_rope_inputs(CaseBuilder& builder, const RopeShape& shape, RopeInputs& a) {
  fill_rotation(a, shape.rotary, shape.scaling);
  const std::int64_t tokens = shape.x[0];
  const Fill far = Fill::integers(-20, shape.farthest);
  if (shape.sections.empty()) {
    a.positions = builder.filled<std::int32_t>({tokens}, far);
  } else {
    const auto count = static_cast<std::int64_t>(shape.sections.size());
    a.positions = builder.filled<std::int32_t>({count, tokens}, far);
    const View<std::int32_t> sections = builder.blank<std::int32_t>({count});
    for (std::int64_t index = 0; index < count; ++index)
      sections(index) = shape.sections[static_cast<std::size_t>(index)];
    a.sections = sections;
  }
  if (shape.factors) a.frequency_factors = builder.filled({shape.rotary / 2}, Fill::uniform(1, 8));
  a.whole_ramp = shape.whole_ramp;
  a.style = shape.style;
  a.direction = shape.direction;
}

inline View<float> rope_tensor(CaseBuilder& builder, const RopeShape& shape, bool is_output) {
  auto one = [&](const Shape& sizes) { return is_output ? builder.blank(sizes) : builder.filled(sizes); };
  if (!shape.heads_outside) return one(shape.x);
  return one({shape.x[1], shape.x[0], shape.x[2]}).transposed(0, 1).value();
}

template <class Take>
void for_each_rope_shape(Take&& take) {
  const PairStyle half = PairStyle::half_split;
  const PairStyle interleaved = PairStyle::interleaved;
  take("sections, interleaved", RopeShape{{5, 3, 40}, 36, interleaved, RopeScaling::yarn, {4, 0, 9, 5}});
  take("half split", RopeShape{{7, 3, 64}, 64});
  take("partial, factors", RopeShape{{3, 2, 19}, 14, half, RopeScaling::llama3, {}, Direction::forward, true});
  take("interleaved", RopeShape{{7, 3, 64}, 64, interleaved});
  take("one pair", RopeShape{{2, 2, 2}, 2, half, RopeScaling::ntk});
  take("interleaved, odd pairs, inverse",
       RopeShape{{4, 2, 27}, 22, interleaved, RopeScaling::linear, {}, Direction::inverse});
  take("sections, half split, inverse",
       RopeShape{{4, 2, 128}, 128, half, RopeScaling::none, {16, 24, 24}, Direction::inverse});
  take("ntk", RopeShape{{3, 1, 80}, 66, half, RopeScaling::ntk});
  take("llama3", RopeShape{{3, 2, 128}, 128, interleaved, RopeScaling::llama3});
  take("positions up to 2^31",
       RopeShape{{9, 1, 34}, 34, half, RopeScaling::none, {}, Direction::forward, false, 2147483647.0});
  take("heads outside", RopeShape{{6, 3, 20}, 20, half, RopeScaling::none, {}, Direction::forward, false, 100, true});
  take("many tokens", RopeShape{{150, 4, 48}, 32, half, RopeScaling::yarn});
  RopeShape between = {{4, 2, 48}, 48, half, RopeScaling::yarn};
  between.whole_ramp = false;
  take("yarn between whole pairs", between);
  take("no tokens", RopeShape{{0, 3, 8}, 8});
}

inline void Rope::cases(CaseList<Rope>& list) {
  auto made = [](const RopeShape& shape, bool in_place = false) {
    return [shape, in_place](CaseBuilder& builder) {
      Arguments a;
      const View<float> x = rope_tensor(builder, shape, false);
      a.x = x;
      fill_rope_inputs(builder, shape, a);
      a.y = in_place ? x : rope_tensor(builder, shape, true);
      return a;
    };
  };
  for_each_rope_shape([&](const char* name, const RopeShape& shape) { list.parity(name, made(shape)); });
  list.parity("in place", made({{5, 3, 40}, 34}, true));
  list.parity("in place, interleaved", made({{5, 3, 40}, 34, PairStyle::interleaved}, true));
  list.gradient("half split, yarn", made({{2, 2, 6}, 4, PairStyle::half_split, RopeScaling::yarn}));
  list.gradient("interleaved, inverse",
                made({{2, 2, 6}, 6, PairStyle::interleaved, RopeScaling::none, {}, Direction::inverse}));
  list.benchmark("512 tokens, 32 heads of 128", made({{512, 32, 128}, 128}));
  list.benchmark("512 tokens, 32 heads of 128, interleaved", made({{512, 32, 128}, 128, PairStyle::interleaved}));
  list.benchmark("16384 tokens, 32 heads of 128", made({{16384, 32, 128}, 128}));
}

inline void JointRope::cases(CaseList<JointRope>& list) {
  // The second has a head more, so that neither lies where the other would.
  auto made = [](const RopeShape& shape, bool in_place = false) {
    return [shape, in_place](CaseBuilder& builder) {
      RopeShape other = shape;
      other.x[1] += 1;
      Arguments a;
      const View<float> first = rope_tensor(builder, shape, false);
      const View<float> second = rope_tensor(builder, other, false);
      a.first = first;
      a.second = second;
      fill_rope_inputs(builder, shape, a);
      a.first_y = in_place ? first : rope_tensor(builder, shape, true);
      a.second_y = in_place ? second : rope_tensor(builder, other, true);
      return a;
    };
  };
  for_each_rope_shape([&](const char* name, const RopeShape& shape) { list.parity(name, made(shape)); });
  list.parity("in place", made({{5, 3, 40}, 34}, true));
  list.parity("several blocks of heads", made({{2, 19, 16}, 16}));
  list.benchmark("1 token, 32 and 33 heads of 128", made({{1, 32, 128}, 128}));
}

inline void RopeBackward::cases(CaseList<RopeBackward>& list) {
  auto made = [](const RopeShape& shape, bool in_place = false) {
    return [shape, in_place](CaseBuilder& builder) {
      Arguments a;
      const View<float> dy = rope_tensor(builder, shape, false);
      a.dy = dy;
      fill_rope_inputs(builder, shape, a);
      a.dx = in_place ? dy : rope_tensor(builder, shape, true);
      return a;
    };
  };
  for_each_rope_shape([&](const char* name, const RopeShape& shape) { list.parity(name, made(shape)); });
  list.parity("in place", made({{5, 3, 40}, 34}, true));
  list.benchmark("512 tokens, 32 heads of 128", made({{512, 32, 128}, 128}));
}

}  // namespace ingot
