// Gated delta net: a matrix memory that forgets by a factor, erases what a key held, and writes the key's new value.
//
// Per sequence and head, with S a [V, K] matrix as published, alpha_t = e^decay_t:
//
//   S_t = alpha_t S_{t-1} (I - beta_t key_t key_t^T) + beta_t value_t key_t^T
//   y_t = scale S_t query_t
//
// Memory holds S transposed: initial_state and final_state have shape [B, H, K, V], as in linear_attention.h, of which
// this is the rule with one decay and one beta a head. A value channel then is a column, and vectors run along V.
//
// The recurrent variants go token by token. The chunked ones take 32 tokens at once (see
// gated_delta_net_chunked_simd.cc); their results agree with the recurrence to rounding, on finite data.
//
// C1  query and key [B, T, Hk, K], value [B, T, H, V]; all sizes but B and T are 1 or more
// C2  Hk divides H: head h reads query and key head h / (H / Hk)
// C3  decay has shape [B, T, H]
// C4  beta has shape [B, T, H]
// C5  y has value's shape
// C6  initial_state (where given) and final_state have shape [B, H, K, V]
// C7  the last axes of query, key, value, y and the states are packed
// C8  scale is finite
// In place: final_state may be initial_state, so that decoding updates one buffer.
#pragma once

#include "kernels/state/linear_attention.h"

namespace ingot {

struct GatedDeltaNet {
  static constexpr std::string_view name = "state.gated_delta_net";
  static constexpr std::string_view equation =
      "S = e^decay S (I - beta key key^T) + beta value key^T, y = scale S query";
  static constexpr Backward backward = Backward::by("state.gated_delta_net_backward");
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
      return field_list(input(&Arguments::query, "query"), input(&Arguments::key, "key"),
                        input(&Arguments::value, "value"), input(&Arguments::decay, "decay"),
                        input(&Arguments::beta, "beta"), optional_input(&Arguments::initial_state, "initial_state"),
                        attribute(&Arguments::scale, "scale"), output(&Arguments::y, "y"),
                        output(&Arguments::final_state, "final_state"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<GatedDeltaNet>> variants();
  static void cases(CaseList<GatedDeltaNet>& list);
};

// The same call as linear attention, whose reference and recurrent vector variants serve both.
inline LinearAttention::Arguments as_linear_attention(const GatedDeltaNet::Arguments& a) {
  return {.query = a.query,
          .key = a.key,
          .value = a.value,
          .decay = a.decay,
          .beta = a.beta,
          .initial_state = a.initial_state,
          .scale = a.scale,
          .y = a.y,
          .final_state = a.final_state};
}

extern const Variant<GatedDeltaNet> gated_delta_net_cuda;
extern const SimdEntries<GatedDeltaNet> gated_delta_net_simd;
extern const SimdEntries<GatedDeltaNet> gated_delta_net_chunked_simd;
std::size_t gated_delta_net_chunked_scratch(const GatedDeltaNet::Arguments& arguments, int threads);

// Its backward: linear attention's, with the same letters (see linear_attention.h).
//
// C1 to C4, C6 to C8 as above
// C5  dy has value's shape; each gradient has the shape of what it is the gradient of
struct GatedDeltaNetBackward {
  static constexpr std::string_view name = "state.gated_delta_net_backward";
  static constexpr std::string_view equation =
      "G += scale query dy^T, du = G^T key, dkey = G u - beta S' du, G = e^decay (G - beta key du^T), in reverse";
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
      return field_list(input(&Arguments::query, "query"), input(&Arguments::key, "key"),
                        input(&Arguments::value, "value"), input(&Arguments::decay, "decay"),
                        input(&Arguments::beta, "beta"), optional_input(&Arguments::initial_state, "initial_state"),
                        attribute(&Arguments::scale, "scale"), input(&Arguments::dy, "dy"),
                        optional_input(&Arguments::dfinal_state, "dfinal_state"), output(&Arguments::dquery, "dquery"),
                        output(&Arguments::dkey, "dkey"), output(&Arguments::dvalue, "dvalue"),
                        output(&Arguments::ddecay, "ddecay"), output(&Arguments::dbeta, "dbeta"),
                        optional_output(&Arguments::dinitial_state, "dinitial_state"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<GatedDeltaNetBackward>> variants();
  static void cases(CaseList<GatedDeltaNetBackward>& list);
};

inline LinearAttentionBackward::Arguments as_linear_attention(const GatedDeltaNetBackward::Arguments& a) {
  return {.query = a.query,
          .key = a.key,
          .value = a.value,
          .decay = a.decay,
          .beta = a.beta,
          .initial_state = a.initial_state,
          .scale = a.scale,
          .dy = a.dy,
          .dfinal_state = a.dfinal_state,
          .dquery = a.dquery,
          .dkey = a.dkey,
          .dvalue = a.dvalue,
          .ddecay = a.ddecay,
          .dbeta = a.dbeta,
          .dinitial_state = a.dinitial_state};
}

}  // namespace ingot
