// Scaled dot-product attention over whole sequences. With the scores s of sdpa_inputs.h:
//
//   log_sum_exp[b,h,i] = log( e^sinks[h] + sum_j e^s[b,h,i,j] )
//   y[b,h,i,:]         = sum_j e^(s[b,h,i,j] - log_sum_exp[b,h,i]) v[b,h/group,j,:]
//
// A query that sees no key (or scores of -infinity only) gives zeros; without a sink its log_sum_exp is -infinity.
//
// C1 to C7  as in sdpa_inputs.h
// C8  y has shape [B, Hq, Sq, Dv] and a packed last axis
// C9  log_sum_exp, where given, has shape [B, Hq, Sq]
#pragma once

#include "kernels/attention/sdpa/sdpa_inputs.h"
#include "kernels/contract/contract.h"

namespace ingot {

struct SdpaArguments : SdpaInputs {
  View<float> y;
  View<float> log_sum_exp;

  static constexpr auto fields() {
    return std::tuple_cat(SdpaInputs::fields(), field_list(output(&SdpaArguments::y, "y"),
                                                           saved(&SdpaArguments::log_sum_exp, "log_sum_exp")));
  }
};

struct Sdpa {
  static constexpr std::string_view name = "attention.sdpa";
  static constexpr std::string_view equation = "y = softmax(bound(scale q k^T) + alibi + mask) v";
  static constexpr Backward backward = Backward::by("attention.sdpa_backward");
  using Arguments = SdpaArguments;

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Sdpa>> variants();
  static void cases(CaseList<Sdpa>& list);
};

// The same sum with a promise about memory: scores are never written whole. Keys stream past in tiles, and a running
// maximum and sum (online softmax) make the result independent of what is still to come:
//
//   m' = max(m, max_j s_j),  l' = l e^(m-m') + sum_j e^(s_j-m'),  o' = o e^(m-m') + sum_j e^(s_j-m') v_j,  y = o / l
//
// C1 to C9  as in attention.sdpa
struct Streaming {
  static constexpr std::string_view name = "attention.streaming";
  static constexpr std::string_view equation = "y = softmax(bound(scale q k^T) + alibi + mask) v, in tiles of keys";
  static constexpr Backward backward = Backward::by("attention.sdpa_backward");
  using Arguments = SdpaArguments;

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Streaming>> variants();
  static void cases(CaseList<Streaming>& list);
};

void sdpa_reference(const SdpaArguments& arguments, Context& context);
// One vector source serves both names: tiles are the best way to compute attention.sdpa too.
extern const Variant<Sdpa> sdpa_cuda;
extern const Variant<Streaming> streaming_cuda;
extern const SimdEntries<Sdpa> sdpa_simd;
extern const SimdEntries<Streaming> streaming_simd;
std::size_t streaming_scratch_bytes(const SdpaArguments& arguments, int threads);

}  // namespace ingot
