#include "kernels/attention/cached/decode.h"

#include "kernels/attention/cached/decode_cases.h"
#include "kernels/contract/describe.h"

namespace ingot {

Result<void> Decode::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "q", a.q, 3));
  return check_cached_arguments(name, a, a.tokens());
}

Cost Decode::cost(const Arguments& a) {
  double pairs = 0;
  for (std::int64_t s = 0; s < a.sequences(); ++s) {
    const KeyRange range = a.positions_seen(a.lengths(s) - 1);
    pairs += static_cast<double>(range.end - range.begin);
  }
  return {.operations = cached_operations(a, pairs),
          .bytes_read = cached_bytes(a, pairs) + 4 * static_cast<double>(a.q.count()),
          .bytes_written = 4 * static_cast<double>(a.y.count())};
}

Tolerance Decode::tolerance(const Arguments&) { return cached_tolerance(); }

std::span<const Variant<Decode>> Decode::variants() {
  static const Variant<Decode> table[] = {
      decode_cuda,
      {"neon_dotprod",
       {Feature::neon, Feature::fp16, Feature::dotprod},
       decode_simd_dotprod.neon,
       nullptr,
       decode_scratch_bytes},
      {"neon_fp16", {Feature::neon, Feature::fp16}, decode_simd_fhm.neon, nullptr, decode_scratch_bytes},
      INGOT_SIMD_ROWS(decode_simd, nullptr, decode_scratch_bytes),
      {"reference", {}, decode_reference},
  };
  return table;
}

template const Operation& describe_operation<Decode>();

}  // namespace ingot
