// What attention over a cache takes, single new tokens (attention.decode) and runs of them (attention.prefill) alike:
// the tensors, the rules, and the constraints on them.
//
// Where position p of sequence s lies is the cache's business (kernels/cache/cache_view.h): pages hold tokens in the
// order [page][head][token][dim], block_table names the pages of each sequence (left out: sequence s is page s), and in
// a ring positions wrap around the slots.
//
// lengths[s] counts the tokens of sequence s, the new ones included, which are its last. A new token t, at position i
// of sequence s, sees the positions from i + 1 - n to i, n = min(i + 1, window if any, slots of a ring). With group =
// Hq / Hkv:
//
//   raw[t,h,p] = scale sum_d q[t,h,d] k[s,h/group,p,d]
//   score      = bound(raw[t,h,p]) - alibi_slopes[h] (i - p),  bound(r) = softcap tanh(r / softcap), or r
//   y[t,h,:]   = sum_p e^score[t,h,p] v[s,h/group,p,:] / ( e^sinks[h] + sum_p e^score[t,h,p] )
//
// Keys and values are decoded to float exactly; sums are not quantized. Queries are rounded to what instructions
// multiply with keys of their type, as linear.matmul rounds activations:
//
// Where keys are f16, so are queries, each head's at a scale of its own, bit by bit (kernels/vector/half_rows.h):
// what is lost is below 2^-11 of each number.
//
// Where keys are q8_0, queries are 8-bit codes as well, with a scale for each 32 numbers, bit by bit
// (kernels/vector/activation_codes.h): what is lost is at most 1/254 of the largest of the 32, as keys have lost.
// A query that holds a number which is not finite makes all of y[t,h] NaN, where it sees a token.
//
// Of T new tokens in S sequences:
//
// C1  q is [T, Hq, D] and y is [T, Hq, Dv]; D and Dv are 1 to 65536; their last axes are packed
// C2  k_pages is [pages, Hkv, page_length, D] and v_pages is [pages, Hkv, page_length, Dv]; page_length >= 1; their
//     last axes are packed
// C3  k_pages and v_pages are each f32, f16 or q8_0
// C4  Hq is a multiple of Hkv
// C5  block_table, where given, is [S, max_pages], else there are at least S pages; lengths is [S]; a sequence has at
//     most 2^31 slots
// C6  lengths are not negative; without ring no longer than the slots, with ring not positive where there are no slots
// C7  the pages that hold a sequence's tokens lie in [0, pages); other entries of block_table are not read
// C8  alibi_slopes and sinks, where given, have shape [Hq]
// C9  scale is finite; softcap is finite and not negative (0: none); window is 0 (none) to 2^31
#pragma once

#include "kernels/attention/visibility.h"
#include "kernels/cache/cache_view.h"
#include "kernels/contract/fields.h"
#include "kernels/contract/tolerance.h"

namespace ingot {

struct CachedArguments {
  View<const float> q;
  ConstAnyView k_pages;
  ConstAnyView v_pages;
  View<const std::int32_t> block_table;
  View<const std::int32_t> lengths;
  View<const float> alibi_slopes;
  View<const float> sinks;
  float scale = 1;
  std::int64_t window = 0;
  float softcap = 0;
  bool ring = false;
  View<float> y;

  static constexpr auto fields() {
    return field_list(
        input(&CachedArguments::q, "q"), input(&CachedArguments::k_pages, "k_pages"),
        input(&CachedArguments::v_pages, "v_pages"), optional_input(&CachedArguments::block_table, "block_table"),
        input(&CachedArguments::lengths, "lengths"), optional_weight(&CachedArguments::alibi_slopes, "alibi_slopes"),
        optional_weight(&CachedArguments::sinks, "sinks"), attribute(&CachedArguments::scale, "scale"),
        attribute(&CachedArguments::window, "window"), attribute(&CachedArguments::softcap, "softcap"),
        attribute(&CachedArguments::ring, "ring"), output(&CachedArguments::y, "y"));
  }

  std::int64_t tokens() const { return q.size(0); }
  std::int64_t sequences() const { return lengths.size(0); }
  std::int64_t heads() const { return q.size(1); }
  std::int64_t key_heads() const { return k_pages.size(1); }
  std::int64_t dimensions() const { return q.size(2); }
  std::int64_t value_dimensions() const { return v_pages.size(3); }
  // Precondition: key_heads() > 0.
  std::int64_t head_group() const { return heads() / key_heads(); }
  ConstCacheView keys() const { return cache_of(k_pages); }
  ConstCacheView values() const { return cache_of(v_pages); }
  // The positions that a new token at a position sees.
  KeyRange positions_seen(std::int64_t position) const {
    KeyRange range = visible_keys(MaskKind::causal, window, position, position + 1);
    if (ring) range.begin = std::max(range.begin, position + 1 - keys().capacity());
    return range;
  }

 private:
  ConstCacheView cache_of(const ConstAnyView& pages) const {
    const CachePolicy fixed = is_present(block_table) ? CachePolicy::paged : CachePolicy::contiguous;
    return {pages, block_table, ring ? CachePolicy::ring : fixed};
  }
};

// C1 to C9, for that many sequences.
Result<void> check_cached_arguments(std::string_view operation, const CachedArguments& arguments,
                                    std::int64_t sequences);

// Operations for that many pairs of a new token and one that it sees.
double cached_operations(const CachedArguments& arguments, double pairs);
// Bytes of that many tokens' keys and values, in all heads.
double cached_bytes(const CachedArguments& arguments, double tokens);

Tolerance cached_tolerance();

}  // namespace ingot
