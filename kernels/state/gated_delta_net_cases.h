// Shapes: one token, lengths around and across chunks of 32, shared query and key heads, odd widths, no time; with and
// without state; in place. Data as in linear_attention_cases.h.
#pragma once

#include "kernels/state/gated_delta_net.h"
#include "kernels/state/linear_attention_cases.h"

namespace ingot {

// The gated delta rule always has one decay and one beta a head, and as many query heads as key heads.
inline LinearAttentionCase gated_delta_case(std::int64_t batch, std::int64_t time, std::int64_t key_heads,
                                            std::int64_t heads, std::int64_t key_width, std::int64_t value_width,
                                            bool with_state = true) {
  return {batch, time,      key_heads, key_heads, heads, key_width, value_width, LinearAttentionCase::Decay::per_head,
          true,  with_state};
}

inline constexpr std::string_view chunked_needs_finite_data =
    "an infinite value makes S key NaN term by term but an infinity through key products: the forms agree on finite "
    "data";

inline void GatedDeltaNet::cases(CaseList<GatedDeltaNet>& list) {
  list.exclude(Regime::specials, chunked_needs_finite_data);
  auto of = [](LinearAttentionCase one) {
    return [one](CaseBuilder& builder) { return build_linear_attention<Arguments>(one, builder); };
  };
  list.parity("2 x 4 tokens, shared keys", of(gated_delta_case(2, 4, 2, 4, 8, 8)));
  list.parity("a chunk and a part", of(gated_delta_case(1, 37, 1, 2, 16, 24)));
  list.parity("no state", of(gated_delta_case(1, 9, 2, 2, 5, 19, false)));
  for (std::int64_t time : {1, 8, 31, 32, 33, 64, 100}) {
    list.parity("time " + std::to_string(time), of(gated_delta_case(1, time, 1, 2, 13, 35)));
  }
  list.parity("one of everything but sequences", of(gated_delta_case(6, 1, 1, 1, 1, 1)));
  list.parity("narrow, long", of(gated_delta_case(6, 70, 1, 1, 1, 1)));
  list.parity("64 x 64", of(gated_delta_case(1, 40, 2, 4, 64, 64)));
  list.parity("no time", of(gated_delta_case(2, 0, 2, 2, 4, 20)));
  list.parity("no batch", of(gated_delta_case(0, 40, 2, 2, 4, 20)));
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a = build_linear_attention<Arguments>(gated_delta_case(2, 45, 1, 2, 9, 37, false), builder);
    a.final_state = builder.filled({2, 2, 9, 37});
    a.initial_state = a.final_state;
    return a;
  });
  list.gradient("shared keys and state", of(gated_delta_case(1, 3, 1, 2, 3, 2)));
  list.gradient("no state", of(gated_delta_case(2, 3, 1, 1, 2, 2, false)));
  list.benchmark("decode, 32 heads of 128 x 128", of(gated_delta_case(1, 1, 16, 32, 128, 128)));
  list.benchmark("prefill 512, 32 heads of 128 x 128", of(gated_delta_case(1, 512, 16, 32, 128, 128)));
}

inline void GatedDeltaNetBackward::cases(CaseList<GatedDeltaNetBackward>& list) {
  auto of = [](LinearAttentionCase one) {
    return [one](CaseBuilder& builder) { return build_linear_attention_backward<Arguments>(one, builder); };
  };
  list.parity("shared keys and state", of(gated_delta_case(2, 5, 1, 2, 4, 3)));
  list.parity("no state", of(gated_delta_case(1, 3, 2, 2, 3, 5, false)));
  list.parity("no time", of(gated_delta_case(1, 0, 2, 2, 3, 5)));
  list.benchmark("64 tokens, 4 heads of 64 x 64", of(gated_delta_case(1, 64, 2, 4, 64, 64)));
}

}  // namespace ingot
