// Attention of one new token per sequence over a cache of pages: token b is the last of sequence b. The sums, and what
// queries are rounded to, stand in cached_arguments.h. A sequence of no tokens gives zeros.
//
// C1 to C9  as in cached_arguments.h, for T sequences
#pragma once

#include "kernels/attention/cached/cached_arguments.h"
#include "kernels/contract/contract.h"

namespace ingot {

struct Decode {
  static constexpr std::string_view name = "attention.decode";
  static constexpr std::string_view equation = "y[b,h] = softmax(bound(scale q[b,h] k[b]^T) + alibi) v[b], from pages";
  static constexpr Backward backward = Backward::none("generation only; training attends over whole sequences");
  using Arguments = CachedArguments;

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Decode>> variants();
  static void cases(CaseList<Decode>& list);
};

void decode_reference(const Decode::Arguments& arguments, Context& context);
extern const Variant<Decode> decode_cuda;
extern const SimdEntries<Decode> decode_simd;
extern const SimdEntries<Decode> decode_simd_fhm;      // neon alone, with FMLAL
extern const SimdEntries<Decode> decode_simd_dotprod;  // and with SDOT
std::size_t decode_scratch_bytes(const Decode::Arguments& arguments, int threads);

}  // namespace ingot
