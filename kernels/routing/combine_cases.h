// Shapes: one of everything, several experts a token, odd widths around vector lengths, empty rows, no tokens.
#pragma once

#include "kernels/routing/combine.h"
#include "kernels/routing/permutation.h"

namespace ingot {

inline void RoutingCombine::cases(CaseList<RoutingCombine>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t width) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({tokens * per_token, width});
      a.permutation = random_permutation(builder, tokens * per_token);
      a.weights = builder.filled({tokens, per_token}, Fill::uniform(0, 1));
      a.y = builder.blank({tokens, width});
      return a;
    };
  };
  for (std::int64_t width : {1, 7, 16, 33, 67}) {
    list.parity("5 tokens, 3 slots each, width " + std::to_string(width), of(5, 3, width));
  }
  list.parity("many rows", of(130, 2, 140));
  list.parity("empty rows", of(3, 2, 0));
  list.parity("no tokens", of(0, 2, 8));
  list.gradient("3 tokens, 2 slots each", of(3, 2, 4));
  list.benchmark("1 token, 8 slots, width 2048", of(1, 8, 2048));
  list.benchmark("512 tokens, 8 slots each, width 2048", of(512, 8, 2048));
}

inline void RoutingCombineBackward::cases(CaseList<RoutingCombineBackward>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t width) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({tokens * per_token, width});
      a.permutation = random_permutation(builder, tokens * per_token);
      a.weights = builder.filled({tokens, per_token}, Fill::uniform(0, 1));
      a.dy = builder.filled({tokens, width}, Fill::uniform(-1, 1));
      a.dx = builder.blank({tokens * per_token, width});
      a.dweights = builder.blank({tokens, per_token});
      return a;
    };
  };
  for (std::int64_t width : {1, 7, 16, 33, 67}) {
    list.parity("5 tokens, 3 slots each, width " + std::to_string(width), of(5, 3, width));
  }
  list.parity("many rows", of(130, 2, 140));
  list.parity("empty rows", of(3, 2, 0));
  list.parity("no tokens", of(0, 2, 8));
  list.benchmark("512 tokens, 8 slots each, width 2048", of(512, 8, 2048));
}

}  // namespace ingot
