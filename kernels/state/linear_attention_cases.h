// Shapes: the four update rules, decays a head and a channel, shared queries, keys and states, odd widths around vector
// lengths, one token (decoding), no time; with and without state; in place.
//
// Only value and the states follow the regime: the result is linear in them. Queries, keys, decays and betas multiply
// the state again at each token, and for the delta rule the recurrence is stable only while beta |key|^2 < 2.
#pragma once

#include <cmath>

#include "kernels/state/linear_attention.h"

namespace ingot {

struct LinearAttentionCase {
  enum class Decay : std::uint8_t { none, per_head, per_channel };
  std::int64_t batch, time, query_heads, key_heads, heads, key_width, value_width;
  Decay decay = Decay::none;
  bool with_beta = false;
  bool with_state = true;
};

// Fills the inputs that all operations of this kind share.
template <class Arguments>
LinearAttentionSizes fill_linear_attention(const LinearAttentionCase& one, CaseBuilder& builder, Arguments& a) {
  const double bound = 1 / std::sqrt(static_cast<double>(one.key_width));
  a.query = builder.filled({one.batch, one.time, one.query_heads, one.key_width}, Fill::uniform(-1, 1));
  a.key = builder.filled({one.batch, one.time, one.key_heads, one.key_width}, Fill::uniform(-bound, bound));
  a.value = builder.filled({one.batch, one.time, one.heads, one.value_width});
  const Shape per_head = {one.batch, one.time, one.heads};
  const Shape per_channel = {one.batch, one.time, one.heads, one.key_width};
  if (one.decay == LinearAttentionCase::Decay::per_head) a.decay = builder.filled(per_head, Fill::uniform(-1, 0));
  if (one.decay == LinearAttentionCase::Decay::per_channel) a.decay = builder.filled(per_channel, Fill::uniform(-1, 0));
  if (one.with_beta) a.beta = builder.filled(per_head, Fill::uniform(0, 1));
  const auto sizes = LinearAttentionSizes::of(a);
  if (one.with_state) a.initial_state = builder.filled(sizes.state_shape());
  a.scale = static_cast<float>(bound);
  return sizes;
}

template <class Arguments>
Arguments build_linear_attention(const LinearAttentionCase& one, CaseBuilder& builder) {
  Arguments a;
  const LinearAttentionSizes sizes = fill_linear_attention(one, builder, a);
  a.y = builder.blank({one.batch, one.time, sizes.outputs(), one.value_width});
  a.final_state = builder.blank(sizes.state_shape());
  return a;
}

template <class Arguments>
Arguments build_linear_attention_backward(const LinearAttentionCase& one, CaseBuilder& builder) {
  Arguments a;
  const LinearAttentionSizes sizes = fill_linear_attention(one, builder, a);
  a.dy = builder.filled({one.batch, one.time, sizes.outputs(), one.value_width});
  a.dquery = builder.blank(a.query.shape());
  a.dkey = builder.blank(a.key.shape());
  a.dvalue = builder.blank(a.value.shape());
  if (is_present(a.decay)) a.ddecay = builder.blank(a.decay.shape());
  if (is_present(a.beta)) a.dbeta = builder.blank(a.beta.shape());
  if (one.with_state) {
    a.dfinal_state = builder.filled(sizes.state_shape());
    a.dinitial_state = builder.blank(sizes.state_shape());
  }
  return a;
}

inline void LinearAttention::cases(CaseList<LinearAttention>& list) {
  auto of = [](LinearAttentionCase one) {
    return [one](CaseBuilder& builder) { return build_linear_attention<Arguments>(one, builder); };
  };
  using enum LinearAttentionCase::Decay;
  list.parity("gated delta, shared state", of({2, 4, 8, 4, 4, 8, 8, per_channel, true}));
  list.parity("gated delta, shared query and key", of({2, 3, 2, 2, 4, 5, 19, per_head, true}));
  list.parity("linear", of({1, 5, 1, 1, 1, 3, 7, none, false, false}));
  list.parity("gated a channel", of({2, 4, 4, 4, 4, 8, 8, per_channel}));
  list.parity("gated a head", of({1, 6, 2, 2, 2, 17, 33, per_head}));
  list.parity("delta", of({1, 6, 2, 1, 2, 16, 40, none, true}));
  list.parity("one of everything but sequences", of({6, 1, 1, 1, 1, 1, 1, per_channel, true}));
  list.parity("decoding", of({3, 1, 4, 2, 2, 32, 67, per_head, true}));
  list.parity("longer, many heads", of({2, 50, 6, 3, 3, 12, 48, per_channel, true}));
  list.parity("300 keys wide", of({1, 2, 2, 1, 1, 300, 5, per_channel, true}));
  list.parity("no time", of({2, 0, 2, 2, 2, 4, 20, per_head, true}));
  list.parity("no time, no state", of({2, 0, 2, 2, 2, 4, 20, none, false, false}));
  list.parity("no batch", of({0, 3, 2, 2, 2, 4, 8, per_head, true}));
  list.parity("in place", [](CaseBuilder& builder) {
    Arguments a = build_linear_attention<Arguments>({2, 3, 4, 2, 2, 9, 37, per_head, true, false}, builder);
    a.final_state = builder.filled({2, 2, 9, 37});
    a.initial_state = a.final_state;
    return a;
  });
  list.gradient("linear", of({1, 3, 2, 2, 2, 2, 2}));
  list.gradient("gated a head, shared state", of({1, 3, 4, 2, 2, 2, 2, per_head}));
  list.gradient("delta, no state", of({2, 3, 1, 1, 1, 2, 3, none, true, false}));
  list.gradient("gated delta a channel, shared query and key", of({1, 3, 1, 1, 2, 3, 2, per_channel, true}));
  list.benchmark("decode, 32 heads of 128 x 128", of({1, 1, 32, 32, 32, 128, 128, per_channel, true}));
  list.benchmark("prefill 256, 16 heads of 128 x 128", of({1, 256, 16, 16, 16, 128, 128, per_channel, true}));
}

inline void LinearAttentionBackward::cases(CaseList<LinearAttentionBackward>& list) {
  auto of = [](LinearAttentionCase one) {
    return [one](CaseBuilder& builder) { return build_linear_attention_backward<Arguments>(one, builder); };
  };
  using enum LinearAttentionCase::Decay;
  list.parity("gated delta, shared state", of({2, 4, 4, 2, 2, 3, 5, per_channel, true}));
  list.parity("linear", of({1, 3, 1, 1, 1, 3, 4, none, false, false}));
  list.parity("delta, shared key", of({1, 3, 2, 1, 2, 4, 3, none, true}));
  list.parity("no time", of({1, 0, 2, 2, 2, 3, 4, per_head, true}));
  list.benchmark("64 tokens, 4 heads of 64 x 64", of({1, 64, 4, 4, 4, 64, 64, per_channel, true}));
}

}  // namespace ingot
