// What every whole-sequence attention takes: the tensors, the rules, and the constraints on them.
//
// With group = Hq / Hkv (grouped-query attention; 1 is multi-head, Hq is multi-query) and p = query_offset + i:
//
//   raw[b,h,i,j] = scale sum_d q[b,h,i,d] k[b,h/group,j,d]
//   s[b,h,i,j]   = bound(raw) - alibi_slopes[h] |p - j| + mask[b,h,i,j],  bound(t) = softcap tanh(t / softcap), or t
//
// over the keys j that query i sees (visibility.h): causal asks for j <= p, a window of w for |p - j| < w.
//
// C1  q is [B, Hq, Sq, D], k is [B, Hkv, Skv, D], v is [B, Hkv, Skv, Dv]; D and Dv are 1 to 65536
// C2  Hq is a multiple of Hkv
// C3  the last axes of q, k and v are packed; all other strides are free, so [B, S, H, D] is a transposed view
// C4  mask, where given, repeats to [B, Hq, Sq, Skv]; its last axis is packed
// C5  alibi_slopes and sinks, where given, have shape [Hq]
// C6  scale is finite; softcap is finite and not negative (0: none)
// C7  mask_kind is full or causal; window is 0 (none) to 2^31; query_offset lies within 2^31 of 0; Skv is at most 2^31
#pragma once

#include "kernels/attention/visibility.h"
#include "kernels/contract/fields.h"

namespace ingot {

inline constexpr std::int64_t head_dimension_limit = 65536;

struct SdpaInputs {
  View<const float> q;
  View<const float> k;
  View<const float> v;
  View<const float> mask;
  View<const float> alibi_slopes;
  View<const float> sinks;
  float scale = 1;
  MaskKind mask_kind = MaskKind::full;
  std::int64_t window = 0;
  float softcap = 0;
  std::int64_t query_offset = 0;

  static constexpr auto fields() {
    return field_list(input(&SdpaInputs::q, "q"), input(&SdpaInputs::k, "k"), input(&SdpaInputs::v, "v"),
                      optional_input(&SdpaInputs::mask, "mask"),
                      optional_weight(&SdpaInputs::alibi_slopes, "alibi_slopes"),
                      optional_weight(&SdpaInputs::sinks, "sinks"), attribute(&SdpaInputs::scale, "scale"),
                      attribute(&SdpaInputs::mask_kind, "mask_kind"), attribute(&SdpaInputs::window, "window"),
                      attribute(&SdpaInputs::softcap, "softcap"), attribute(&SdpaInputs::query_offset, "query_offset"));
  }

  std::int64_t batches() const { return q.size(0); }
  std::int64_t heads() const { return q.size(1); }
  std::int64_t queries() const { return q.size(2); }
  std::int64_t dimensions() const { return q.size(3); }
  std::int64_t key_heads() const { return k.size(1); }
  std::int64_t keys() const { return k.size(2); }
  std::int64_t value_dimensions() const { return v.size(3); }
  // Precondition: key_heads() > 0.
  std::int64_t head_group() const { return heads() / key_heads(); }
  KeyRange keys_of(std::int64_t query) const { return visible_keys(mask_kind, window, query_offset + query, keys()); }
  // The mask with a stride for each of its four axes; an absent view where there is none.
  View<const float> repeated_mask() const {
    if (!is_present(mask)) return {};
    return mask.broadcast_to({batches(), heads(), queries(), keys()}).value();
  }
};

// C1 to C7.
Result<void> check_sdpa_inputs(std::string_view operation, const SdpaInputs& inputs);

// How many pairs of query and key there are to see.
double visible_pairs(const SdpaInputs& inputs);

}  // namespace ingot
