// Attention of runs of new tokens over a cache of pages, as prompts bring them. Run r is the last tokens of sequence r,
// one behind the other:
//
//   tokens run_begins[r] to run_begins[r + 1] of q and y; the last of them is at position lengths[r] - 1
//
// The sums, and what queries are rounded to, stand in cached_arguments.h. They are those of attention.decode over a
// sequence for each token; here keys and values of a sequence are read once for many of its tokens. Keys and values of
// the whole run lie in the pages before the call: a token sees those of its run up to its own.
//
// C1 to C9  as in cached_arguments.h, for R sequences
// C10 run_begins is [R + 1]; it begins with 0, does not fall, and ends with T
// C11 a run has no more tokens than its sequence
#pragma once

#include "kernels/attention/cached/cached_arguments.h"
#include "kernels/contract/contract.h"

namespace ingot {

struct Prefill {
  static constexpr std::string_view name = "attention.prefill";
  static constexpr std::string_view equation =
      "y[t,h] = softmax(bound(scale q[t,h] k[r]^T) + alibi) v[r], tokens t of runs r, from pages";
  static constexpr Backward backward = Backward::none("generation only; training attends over whole sequences");

  struct Arguments : CachedArguments {
    View<const std::int32_t> run_begins;

    static constexpr auto fields() {
      return std::tuple_cat(CachedArguments::fields(), field_list(input(&Arguments::run_begins, "run_begins")));
    }

    std::int64_t run_tokens(std::int64_t run) const { return run_begins(run + 1) - run_begins(run); }
    // Of the run's first token, within its sequence.
    std::int64_t first_position(std::int64_t run) const { return lengths(run) - run_tokens(run); }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Prefill>> variants();
  static void cases(CaseList<Prefill>& list);
};

void prefill_reference(const Prefill::Arguments& arguments, Context& context);
extern const Variant<Prefill> prefill_cuda;
extern const SimdEntries<Prefill> prefill_simd;

}  // namespace ingot
