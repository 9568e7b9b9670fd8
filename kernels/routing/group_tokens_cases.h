// Shapes: one choice, one expert, experts without tokens, no tokens.
#pragma once

#include "kernels/routing/group_tokens.h"

namespace ingot {

inline void GroupTokens::cases(CaseList<GroupTokens>& list) {
  auto of = [](std::int64_t tokens, std::int64_t per_token, std::int64_t experts) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.indices = builder.filled<std::int32_t>({tokens, per_token}, Fill::indices(experts));
      a.permutation = builder.blank<std::int32_t>({tokens * per_token});
      a.offsets = builder.blank<std::int32_t>({experts + 1});
      return a;
    };
  };
  list.parity("7 tokens, 2 of 5", of(7, 2, 5));
  list.parity("one choice", of(1, 1, 3));
  list.parity("one expert", of(4, 3, 1));
  list.parity("more experts than choices", of(3, 2, 40));
  list.parity("no tokens", of(0, 2, 4));
  list.benchmark("512 tokens, 8 of 128", of(512, 8, 128));
}

}  // namespace ingot
