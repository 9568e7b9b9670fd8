// Shapes: one of everything, several experts a token, odd widths, empty rows, no tokens.
#pragma once

#include "kernels/routing/permutation.h"
#include "kernels/routing/scatter.h"

namespace ingot {

inline void RoutingScatter::cases(CaseList<RoutingScatter>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t width) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled({tokens * per_token, width});
      a.permutation = random_permutation(builder, tokens * per_token);
      a.y = builder.blank({tokens, per_token, width});
      return a;
    };
  };
  list.parity("5 tokens, 2 slots each, width 7", of(5, 2, 7));
  list.parity("one of everything", of(1, 1, 1));
  list.parity("many rows", of(130, 3, 65));
  list.parity("empty rows", of(3, 2, 0));
  list.parity("no tokens", of(0, 2, 8));
  list.gradient("3 tokens, 2 slots each", of(3, 2, 4));
  list.benchmark("512 tokens, 8 slots each, width 2048", of(512, 8, 2048));
}

inline void RoutingScatterBackward::cases(CaseList<RoutingScatterBackward>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t width) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.permutation = random_permutation(builder, tokens * per_token);
      a.dy = builder.filled({tokens, per_token, width});
      a.dx = builder.blank({tokens * per_token, width});
      return a;
    };
  };
  list.parity("5 tokens, 2 slots each, width 7", of(5, 2, 7));
  list.parity("many rows", of(130, 3, 65));
  list.parity("empty rows", of(3, 2, 0));
  list.parity("no tokens", of(0, 2, 8));
  list.benchmark("512 tokens, 8 slots each, width 2048", of(512, 8, 2048));
}

}  // namespace ingot
