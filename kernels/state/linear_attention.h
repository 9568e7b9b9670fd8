// Linear attention: softmax attention's keys and values folded into one matrix a head, updated token by token.
//
// Per sequence and state head, with S a [K, V] matrix, S_0 = initial_state (zeros where there is none):
//
//   S' = diag(e^decay_t) S_{t-1}                     S_{t-1} where there is no decay
//   u  = beta_t (value_t - S'^T key_t)               value_t where there is no beta
//   S_t = S' + key_t u^T
//   y_t = scale S_t^T query_t
//
// Which of decay and beta are given selects the published rules: neither, linear attention; decay, gated (retention,
// gated linear attention); beta, the delta rule; both, the gated delta rule (one decay a head) and Kimi's (one a key
// channel). Decays are logarithms, as models compute them; a decay above 0 grows.
//
// Heads: state head h reads key head h / (H / Hk). Output head o, of max(Hq, H), reads query head o / (max / Hq) and
// state head o / (max / H): several queries may share a state, or several states a query.
//
// C1  query [B, T, Hq, K], key [B, T, Hk, K], value [B, T, H, V]; all sizes but B and T are 1 or more
// C2  Hk divides H; of Hq and H, one divides the other
// C3  decay, where given, has shape [B, T, H] or [B, T, H, K]
// C4  beta, where given, has shape [B, T, H]
// C5  y has shape [B, T, max(Hq, H), V]
// C6  initial_state (where given) and final_state have shape [B, H, K, V]
// C7  the last axes of query, key, value, y, the states, and a decay of rank 4 are packed
// C8  scale is finite
// In place: final_state may be initial_state, so that decoding updates one buffer.
#pragma once

#include <algorithm>

#include "kernels/contract/contract.h"

namespace ingot {

struct LinearAttentionSizes {
  std::int64_t batch, time, query_heads, key_heads, heads, key_width, value_width;

  std::int64_t outputs() const { return std::max(query_heads, heads); }
  std::int64_t outputs_per_state() const { return outputs() / heads; }
  std::int64_t key_head(std::int64_t head) const { return head / (heads / key_heads); }
  std::int64_t query_head(std::int64_t output) const { return output / (outputs() / query_heads); }
  Shape state_shape() const { return {batch, heads, key_width, value_width}; }

  // Of arguments that satisfy C1.
  template <class Arguments>
  static LinearAttentionSizes of(const Arguments& a) {
    return {a.query.size(0), a.query.size(1), a.query.size(2), a.key.size(2),
            a.value.size(2), a.query.size(3), a.value.size(3)};
  }
};

struct LinearAttention {
  static constexpr std::string_view name = "state.linear_attention";
  static constexpr std::string_view equation =
      "S' = diag(e^decay) S, u = beta (value - S'^T key), S = S' + key u^T, y = scale S^T query";
  static constexpr Backward backward = Backward::by("state.linear_attention_backward");
  static constexpr std::array in_place = {InPlace{"final_state", "initial_state"}};

  struct Arguments {
    View<const float> query;
    View<const float> key;
    View<const float> value;
    View<const float> decay;
    View<const float> beta;
    View<const float> initial_state;
    float scale = 1;
    View<float> y;
    View<float> final_state;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::query, "query"), input(&Arguments::key, "key"), input(&Arguments::value, "value"),
          optional_input(&Arguments::decay, "decay"), optional_input(&Arguments::beta, "beta"),
          optional_input(&Arguments::initial_state, "initial_state"), attribute(&Arguments::scale, "scale"),
          output(&Arguments::y, "y"), output(&Arguments::final_state, "final_state"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LinearAttention>> variants();
  static void cases(CaseList<LinearAttention>& list);
};

void linear_attention_reference(const LinearAttention::Arguments& arguments, Context& context);
extern const Variant<LinearAttention> linear_attention_cuda;
extern const SimdEntries<LinearAttention> linear_attention_simd;
// The vector variants keep a token's decay factors at hand: K floats a thread.
std::size_t linear_attention_scratch(const LinearAttention::Arguments& arguments, int threads);

// Its backward, the recurrence in reverse with G = dL/dS_t, starting from dfinal_state (zeros where there is none):
//
//   G += scale query_t dy_t^T        dquery_t = scale S_t dy_t
//   du = G^T key_t                   dvalue_t = beta_t du          dbeta_t = <du, value_t - S'^T key_t>
//   dkey_t = G u - beta_t S' du      G' = G - beta_t key_t du^T
//   ddecay_t = e^decay_t rowsum(G' * S_{t-1}), summed over K where decay is one a head
//   G = diag(e^decay_t) G', and what is left at t = 0 is dinitial_state
//
// Heads that are shared receive the sum over those who share them. The states are computed again and kept in memory.
//
// C1 to C4, C6 to C8 as above
// C5  dy has the shape of y; each gradient has the shape of what it is the gradient of, and a packed last axis where
//     that one's must be
struct LinearAttentionBackward {
  static constexpr std::string_view name = "state.linear_attention_backward";
  static constexpr std::string_view equation =
      "G += scale query dy^T, du = G^T key, dkey = G u - beta S' du, G = diag(e^decay) (G - beta key du^T), in reverse";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> query;
    View<const float> key;
    View<const float> value;
    View<const float> decay;
    View<const float> beta;
    View<const float> initial_state;
    float scale = 1;
    View<const float> dy;
    View<const float> dfinal_state;
    View<float> dquery;
    View<float> dkey;
    View<float> dvalue;
    View<float> ddecay;
    View<float> dbeta;
    View<float> dinitial_state;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::query, "query"), input(&Arguments::key, "key"), input(&Arguments::value, "value"),
          optional_input(&Arguments::decay, "decay"), optional_input(&Arguments::beta, "beta"),
          optional_input(&Arguments::initial_state, "initial_state"), attribute(&Arguments::scale, "scale"),
          input(&Arguments::dy, "dy"), optional_input(&Arguments::dfinal_state, "dfinal_state"),
          output(&Arguments::dquery, "dquery"), output(&Arguments::dkey, "dkey"), output(&Arguments::dvalue, "dvalue"),
          optional_output(&Arguments::ddecay, "ddecay"), optional_output(&Arguments::dbeta, "dbeta"),
          optional_output(&Arguments::dinitial_state, "dinitial_state"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LinearAttentionBackward>> variants();
  static void cases(CaseList<LinearAttentionBackward>& list);
};

void linear_attention_backward_reference(const LinearAttentionBackward::Arguments& arguments, Context& context);

}  // namespace ingot
