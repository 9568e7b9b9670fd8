// Attention of one new token per sequence over a cache of pages.
//
// Where position p of sequence b lies is the cache's business (kernels/cache/cache_view.h): pages hold tokens in the
// order [page][head][token][dim], block_table names the pages of each sequence (left out: sequence b is page b), and in
// a ring positions wrap around the slots.
//
// lengths[b] counts the tokens of sequence b, the new one included: it is the query, at position lengths[b] - 1, and it
// sees the last n[b] positions, n[b] = min(lengths[b], window if any, slots of a ring). With group = Hq / Hkv:
//
//   raw[b,h,p] = scale sum_d q[b,h,d] k[b,h/group,p,d]
//   s[b,h,p]   = bound(raw) - alibi_slopes[h] (lengths[b] - 1 - p),  bound(t) = softcap tanh(t / softcap), or t
//   y[b,h,:]   = sum_p e^s[b,h,p] v[b,h/group,p,:] / ( e^sinks[h] + sum_p e^s[b,h,p] )
//
// A sequence of no tokens gives zeros. Keys and values are decoded to float exactly; sums are not quantized. Queries
// are rounded to what instructions multiply with keys of their type, as linear.matmul rounds activations:
//
// Where keys are f16, so are queries, each head's at a scale of its own, bit by bit (kernels/vector/half_rows.h):
// what is lost is below 2^-11 of each number.
//
// Where keys are q8_0, queries are 8-bit codes as well, with a scale for each 32 numbers, bit by bit
// (kernels/vector/activation_codes.h): what is lost is at most 1/254 of the largest of the 32, as keys have lost.
// A query that holds a number which is not finite makes all of y[b,h] NaN, where it sees a token.
//
// C1  q is [B, Hq, D] and y is [B, Hq, Dv]; D and Dv are 1 to 65536; their last axes are packed
// C2  k_pages is [pages, Hkv, page_length, D] and v_pages is [pages, Hkv, page_length, Dv]; page_length >= 1; their
// last
//     axes are packed
// C3  k_pages and v_pages are each f32, f16 or q8_0
// C4  Hq is a multiple of Hkv
// C5  block_table, where given, is [B, max_pages], else there are at least B pages; lengths is [B]; a sequence has at
// most
//     2^31 slots
// C6  lengths are not negative; without ring no longer than the slots, with ring not positive where there are no slots
// C7  the pages that hold a sequence's tokens lie in [0, pages); other entries of block_table are not read
// C8  alibi_slopes and sinks, where given, have shape [Hq]
// C9  scale is finite; softcap is finite and not negative (0: none); window is 0 (none) to 2^31
#pragma once

#include "kernels/attention/visibility.h"
#include "kernels/cache/cache_view.h"
#include "kernels/contract/contract.h"

namespace ingot {

struct Decode {
  static constexpr std::string_view name = "attention.decode";
  static constexpr std::string_view equation = "y[b,h] = softmax(bound(scale q[b,h] k[b]^T) + alibi) v[b], from pages";
  static constexpr Backward backward = Backward::none("generation only; training attends over whole sequences");

  struct Arguments {
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
          input(&Arguments::q, "q"), input(&Arguments::k_pages, "k_pages"), input(&Arguments::v_pages, "v_pages"),
          optional_input(&Arguments::block_table, "block_table"), input(&Arguments::lengths, "lengths"),
          optional_weight(&Arguments::alibi_slopes, "alibi_slopes"), optional_weight(&Arguments::sinks, "sinks"),
          attribute(&Arguments::scale, "scale"), attribute(&Arguments::window, "window"),
          attribute(&Arguments::softcap, "softcap"), attribute(&Arguments::ring, "ring"), output(&Arguments::y, "y"));
    }

    std::int64_t batches() const { return q.size(0); }
    std::int64_t heads() const { return q.size(1); }
    std::int64_t key_heads() const { return k_pages.size(1); }
    std::int64_t value_dimensions() const { return v_pages.size(3); }
    // Precondition: key_heads() > 0.
    std::int64_t group() const { return heads() / key_heads(); }
    ConstCacheView keys() const { return cache_of(k_pages); }
    ConstCacheView values() const { return cache_of(v_pages); }
    // The positions that a sequence's new token sees.
    KeyRange positions_of(std::int64_t sequence) const {
      const std::int64_t length = lengths(sequence);
      KeyRange range = visible_keys(MaskKind::causal, window, length - 1, length);
      if (ring) range.begin = std::max(range.begin, length - keys().capacity());
      return range;
    }

   private:
    ConstCacheView cache_of(const ConstAnyView& pages) const {
      const CachePolicy fixed = is_present(block_table) ? CachePolicy::paged : CachePolicy::contiguous;
      return {pages, block_table, ring ? CachePolicy::ring : fixed};
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Decode>> variants();
  static void cases(CaseList<Decode>& list);
};

void decode_reference(const Decode::Arguments& arguments, Context& context);
extern const SimdEntries<Decode> decode_simd;
extern const SimdEntries<Decode> decode_simd_fhm;      // neon alone, with FMLAL
extern const SimdEntries<Decode> decode_simd_dotprod;  // and with SDOT
std::size_t decode_scratch_bytes(const Decode::Arguments& arguments, int threads);

}  // namespace ingot
