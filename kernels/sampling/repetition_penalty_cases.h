// Shapes: short and long histories with repetitions and gaps, none at all, a vocabulary of one; each penalty alone and
// all together; in place.
#pragma once

#include "kernels/sampling/repetition_penalty.h"

namespace ingot {

inline void RepetitionPenalty::cases(CaseList<RepetitionPenalty>& list) {
  struct Penalties {
    float repetition, presence, frequency;
  };
  auto separate = [](std::int64_t rows, std::int64_t tokens, std::int64_t length, Penalties penalties) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.logits = builder.filled({rows, tokens});
      a.history = builder.filled<std::int32_t>({rows, length}, Fill::integers(-1, static_cast<double>(tokens)));
      a.repetition = penalties.repetition;
      a.presence = penalties.presence;
      a.frequency = penalties.frequency;
      a.y = builder.blank({rows, tokens});
      return a;
    };
  };
  list.parity("all penalties", separate(3, 37, 20, {1.3f, 0.5f, 0.25f}));
  list.parity("repetition", separate(2, 100, 64, {1.1f, 0, 0}));
  list.parity("presence", separate(2, 100, 64, {1, 0.7f, 0}));
  list.parity("frequency, rewarded", separate(5, 10, 64, {1, 0, -0.3f}));
  list.parity("no history", separate(2, 33, 0, {1.3f, 0.5f, 0.25f}));
  list.parity("one token", separate(2, 1, 5, {1.3f, 0.5f, 0.25f}));
  list.parity("no rows", separate(0, 8, 5, {1.3f, 0.5f, 0.25f}));
  list.parity("in place", [separate](CaseBuilder& builder) {
    Arguments a = separate(3, 37, 20, {1.3f, 0.5f, 0.25f})(builder);
    const View<float> logits = builder.filled({3, 37});
    a.logits = logits;
    a.y = logits;
    return a;
  });
  list.benchmark("1 x 151936, history 256", separate(1, 151936, 256, {1.1f, 0.1f, 0.1f}));
}

}  // namespace ingot
