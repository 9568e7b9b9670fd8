// Shapes: vocabularies around a vector and around a block of summed weights, limits from one token to all; ties at the
// edge of what is kept; masked tokens and rows; flat and steep rows; in place.
#pragma once

#include "kernels/sampling/choose_cases.h"
#include "kernels/sampling/filter.h"

namespace ingot {

template <class Op, class Number>
void FilterContract<Op, Number>::cases(CaseList<Op>& list) {
  // Limits that keep about one token, a few and most.
  std::array<Number, 3> limits = {1, 1, 1};
  if constexpr (std::is_same_v<Op, Temperature>) limits = {0.7f, 1, 1.9f};
  if constexpr (std::is_same_v<Op, SamplingTopK>) limits = {5, 1, 40};
  if constexpr (std::is_same_v<Op, TopP>) limits = {0.9f, 0.05f, 0.999f};
  if constexpr (std::is_same_v<Op, MinP>) limits = {0.1f, 1, 0.001f};
  auto separate = [](std::int64_t rows, std::int64_t tokens, Number limit, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      return Arguments{builder.filled({rows, tokens}, fill), limit, builder.blank({rows, tokens})};
    };
  };
  for (std::size_t which = 0; which < limits.size(); ++which) {
    const std::string suffix = ", limit " + std::to_string(which);
    list.parity("3 x 37" + suffix, separate(3, 37, limits[which]));
    list.parity("2 x 1500" + suffix, separate(2, 1500, limits[which]));
    list.parity("ties" + suffix, separate(4, 130, limits[which], Fill::integers(-2, 2)));
    list.parity("steep" + suffix, separate(3, 1030, limits[which], Fill::uniform(-60, 20)));
    list.parity("masked" + suffix, [limit = limits[which]](CaseBuilder& builder) {
      const View<float> logits = builder.filled({3, 50});
      mask_tokens(logits);
      return Arguments{logits, limit, builder.blank({3, 50})};
    });
  }
  list.parity("2 x 9001", separate(2, 9001, limits[2]));
  list.parity("everything is kept", separate(2, 33, 1));
  list.parity("2 x 1", separate(2, 1, limits[0]));
  list.parity("no rows", separate(0, 8, limits[0]));
  list.parity("in place", [limit = limits[0]](CaseBuilder& builder) {
    const View<float> logits = builder.filled({3, 99});
    return Arguments{logits, limit, logits};
  });
  list.benchmark("1 x 151936", separate(1, 151936, limits[0], Fill::uniform(-10, 10)));
}

}  // namespace ingot
