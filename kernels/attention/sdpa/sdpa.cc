#include "kernels/attention/sdpa/sdpa.h"

#include "kernels/attention/sdpa/sdpa_cases.h"
#include "kernels/attention/tiles.h"
#include "kernels/contract/describe.h"
#include "kernels/contract/magnitude.h"

namespace ingot {
namespace {

Result<void> check_sdpa(std::string_view name, const SdpaArguments& a) {
  TRY(check_sdpa_inputs(name, a));
  TRY(require_shape(name, "C8", "y", a.y, {a.batches(), a.heads(), a.queries(), a.value_dimensions()}));
  TRY(require_contiguous_rows(name, "C8", "y", a.y));
  if (is_present(a.log_sum_exp)) {
    TRY(require_shape(name, "C9", "log_sum_exp", a.log_sum_exp, {a.batches(), a.heads(), a.queries()}));
  }
  return {};
}

Cost sdpa_cost(const SdpaArguments& a) {
  const double pairs = visible_pairs(a);
  const auto dimensions = static_cast<double>(a.dimensions() + a.value_dimensions());
  const auto read = static_cast<double>(a.q.count() + a.k.count() + a.v.count());
  const double masked = is_present(a.mask) ? static_cast<double>(a.mask.count()) : 0;
  // Two products a pair, and about 16 operations for its exponential.
  return {.operations = pairs * (2 * dimensions + 16),
          .bytes_read = 4 * (read + masked),
          .bytes_written = 4 * static_cast<double>(a.y.count())};
}

Tolerance sdpa_tolerance(const SdpaArguments& a) {
  return {.epsilons = 16,
          .scale = ErrorScale::tensor,
          .reason =
              "weights of sum 1 mix values whose rounding follows the largest of them, and carry the rounding of "
              "their scores",
          .least_scale = largest_magnitude(a.v)};
}

}  // namespace

Result<void> check_sdpa_inputs(std::string_view name, const SdpaInputs& a) {
  TRY(require_rank(name, "C1", "q", a.q, 4));
  TRY(require_rank(name, "C1", "k", a.k, 4));
  TRY(require_rank(name, "C1", "v", a.v, 4));
  TRY(require_shape(name, "C1", "k", a.k, {a.batches(), a.key_heads(), a.keys(), a.dimensions()}));
  TRY(require_shape(name, "C1", "v", a.v, {a.batches(), a.key_heads(), a.keys(), a.value_dimensions()}));
  for (std::int64_t size : {a.dimensions(), a.value_dimensions()}) {
    if (size < 1 || size > head_dimension_limit) {
      return violated(name, "C1", "expected heads of 1 to ", head_dimension_limit, " dimensions, found ", size);
    }
  }
  if (a.key_heads() == 0 ? a.heads() != 0 : a.heads() % a.key_heads() != 0) {
    return violated(name, "C2", "expected query heads that are a multiple of ", a.key_heads(), " key heads, found ",
                    a.heads());
  }
  TRY(require_contiguous_rows(name, "C3", "q", a.q));
  TRY(require_contiguous_rows(name, "C3", "k", a.k));
  TRY(require_contiguous_rows(name, "C3", "v", a.v));
  if (is_present(a.mask)) {
    const Shape target = {a.batches(), a.heads(), a.queries(), a.keys()};
    if (!a.mask.broadcast_to(target).ok()) {
      return violated(name, "C4", "expected mask that repeats to ", target, ", found ", a.mask.shape());
    }
    TRY(require_contiguous_rows(name, "C4", "mask", a.mask));
  }
  if (is_present(a.alibi_slopes)) TRY(require_shape(name, "C5", "alibi_slopes", a.alibi_slopes, {a.heads()}));
  if (is_present(a.sinks)) TRY(require_shape(name, "C5", "sinks", a.sinks, {a.heads()}));
  TRY(require_finite(name, "C6", "scale", a.scale));
  TRY(require_finite(name, "C6", "softcap", a.softcap));
  if (a.softcap < 0) return violated(name, "C6", "expected a softcap of 0 or more, found a negative one");
  TRY(require_mask_kind(name, "C7", a.mask_kind));
  TRY(require_position(name, "C7", "window", 0, a.window));
  TRY(require_position(name, "C7", "query_offset", -position_limit, a.query_offset));
  TRY(require_position(name, "C7", "a number of queries", 0, a.queries()));
  return require_position(name, "C7", "a number of keys", 0, a.keys());
}

double visible_pairs(const SdpaInputs& a) {
  double pairs = 0;
  for (std::int64_t i = 0; i < a.queries(); ++i) {
    const KeyRange range = a.keys_of(i);
    pairs += static_cast<double>(range.end - range.begin);
  }
  return pairs * static_cast<double>(a.batches() * a.heads());
}

std::size_t streaming_scratch_bytes(const SdpaArguments& a, int threads) {
  const std::int64_t padded = padded_width(a.value_dimensions());
  // Queries, weights, mask, outputs, values, keys; a multiple of 64 bytes, for each worker.
  const std::int64_t floats =
      row_tile * (a.dimensions() + 2 * key_tile + padded) + key_tile * (padded + a.dimensions());
  return static_cast<std::size_t>(threads) * static_cast<std::size_t>(floats) * sizeof(float);
}

Result<void> Sdpa::check(const Arguments& a) { return check_sdpa(name, a); }
Cost Sdpa::cost(const Arguments& a) { return sdpa_cost(a); }
Tolerance Sdpa::tolerance(const Arguments& a) { return sdpa_tolerance(a); }

std::span<const Variant<Sdpa>> Sdpa::variants() {
  static const Variant<Sdpa> table[] = {
      sdpa_cuda,
      INGOT_SIMD_ROWS(sdpa_simd, nullptr, streaming_scratch_bytes),
      {"reference", {}, sdpa_reference},
  };
  return table;
}

Result<void> Streaming::check(const Arguments& a) { return check_sdpa(name, a); }
Cost Streaming::cost(const Arguments& a) { return sdpa_cost(a); }
Tolerance Streaming::tolerance(const Arguments& a) { return sdpa_tolerance(a); }

std::span<const Variant<Streaming>> Streaming::variants() {
  static const Variant<Streaming> table[] = {
      streaming_cuda,
      INGOT_SIMD_ROWS(streaming_simd, nullptr, streaming_scratch_bytes),
      {"reference", {}, sdpa_reference},
  };
  return table;
}

template const Operation& describe_operation<Sdpa>();
template const Operation& describe_operation<Streaming>();

}  // namespace ingot
