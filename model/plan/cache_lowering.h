// Cache lowering: attention over the sequences of a pass becomes attention over all that a session has kept of them.
//
//   attention.sdpa over k and v, a step for each group of runs
//     =>  cache.store_paged of k, cache.store_paged of v, and attention over the pages: attention.decode, in which each
//         token is by itself, for the short runs that a pass begins with; attention.prefill for those that follow
//
// A layer that attends over the rows of a layer before, with the same window, reads that layer's cache.
//
// So a circuit depends on how many tokens are decoded, how many follow in how many runs, and not on how long each is.
// For sequences that begin with the pass both compute the same, but for the last bits: where neighbours must never show
// (kernels/contract/table.h), nor whether a token came with a prompt, all are decoded.
#pragma once

#include "kernels/contract/table.h"
#include "model/circuit/circuit.h"
#include "model/plan/cache_geometry.h"

namespace ingot {

// Whether a run of so many tokens is read as a whole: then several rows share what is read, and tiles pay.
constexpr bool is_prefill_run(std::int64_t tokens, Neighbours neighbours) {
  return tokens >= 4 && neighbours == Neighbours::may_show;
}

// The most positions that causal attention with a window sees, itself included; 0: no step has a window.
std::int64_t largest_window(const Circuit& circuit);

// Lowers every layer's causal attention and returns how many there were. It adds the layers' caches, and those inputs
// of the pass that only a cache needs. Attention that sees the future keeps nothing: it stays as it is. Where steps
// cannot be lowered, the error names one of them and the circuit is of no use any more.
Result<int> lower_to_cache(Circuit& circuit, const CacheGeometry& geometry,
                           Neighbours neighbours = Neighbours::may_show);

}  // namespace ingot
