// Plan rewrites: what a template wrote down for its meaning is replaced by what runs. Each is one row of one list, and
// each is checked against the circuit it rewrote.
#pragma once

#include "kernels/contract/table.h"
#include "model/circuit/circuit.h"
#include "model/circuit/weights.h"
#include "model/plan/adapters.h"
#include "model/plan/cache_geometry.h"
#include "model/plan/packed_weights.h"

namespace ingot {

enum class Fusion : std::uint8_t {
  none,
  gates,  // what a backward pass can still compute again alone: no products, nor the sums that norms are fused with
  all,
};

// What rewrites must know beside the circuit.
struct RewriteContext {
  const CacheGeometry* cache = nullptr;      // null: the pass keeps nothing
  const FindAdapters* adapters = nullptr;    // of this pass; null: none
  const Weights* packed = nullptr;           // in an execution layout (packed_weights.h); null: none
  const LaidOutWeights* laid_out = nullptr;  // on a device (packed_weights.h); null: none
  Fusion fusion = Fusion::all;
  // Where they must never show, nothing depends on how many rows a pass has.
  Neighbours neighbours = Neighbours::may_show;
  // On a device every step is a launch, so that small ones are worth joining which share no data.
  bool is_for_device = false;
};

struct Rewrite {
  std::string_view name;
  std::string_view saves;
  Result<int> (*apply)(Circuit& circuit, const RewriteContext& context);  // returns how often it applied
};

std::span<const Rewrite> all_rewrites();

// All that the context asks for, in the order of the list; the circuit keeps account of them. Tensors that nothing
// touches any more stay listed and take no memory. After an error the circuit is of no use.
Result<void> apply_rewrites(Circuit& circuit, const RewriteContext& context);

}  // namespace ingot
