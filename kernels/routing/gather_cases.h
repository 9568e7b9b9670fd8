// Shapes: one of everything, several experts a token, odd widths around vector lengths, empty rows, no tokens.
#pragma once

#include "kernels/routing/gather.h"
#include "kernels/routing/permutation.h"

namespace ingot {

inline void RoutingGather::cases(CaseList<RoutingGather>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t width) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({tokens, width});
      a.permutation = random_permutation(builder, tokens * per_token);
      a.y = builder.blank({tokens * per_token, width});
      return a;
    };
  };
  list.parity("5 tokens, 2 slots each, width 7", of(5, 2, 7));
  list.parity("one of everything", of(1, 1, 1));
  list.parity("many rows", of(130, 3, 65));
  list.parity("no slots", of(4, 0, 3));
  list.parity("empty rows", of(3, 2, 0));
  list.parity("no tokens", of(0, 2, 8));
  list.gradient("4 tokens, 2 slots each", of(4, 2, 3));
  list.benchmark("512 tokens, 8 slots each, width 2048", of(512, 8, 2048));
}

inline void RoutingGatherBackward::cases(CaseList<RoutingGatherBackward>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t width) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.permutation = random_permutation(builder, tokens * per_token);
      a.dy = builder.filled({tokens * per_token, width});
      a.dx = builder.blank({tokens, width});
      return a;
    };
  };
  for (std::int64_t width : {1, 7, 16, 33, 67}) {
    list.parity("5 tokens, 3 slots each, width " + std::to_string(width), of(5, 3, width));
  }
  list.parity("many rows", of(130, 2, 140));
  list.parity("no slots", of(4, 0, 20));
  list.parity("no tokens", of(0, 2, 8));
  list.benchmark("512 tokens, 8 slots each, width 2048", of(512, 8, 2048));
}

}  // namespace ingot
