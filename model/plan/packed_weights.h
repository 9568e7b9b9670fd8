// Packed weights: products read their weights in an execution layout (tensor/interleaved.h) that was made once.
#pragma once

#include <functional>
#include <set>

#include "kernels/contract/table.h"
#include "model/circuit/circuit.h"
#include "model/circuit/weights.h"
#include "tensor/interleaved.h"

namespace ingot {

// The weights that have such a layout: of a type that can be interleaved, read by products as whole matrices of whole
// eights of rows, and by nothing else but lookups of their rows (an output table may be the input's as well).
// Of those, the ones of types that `accepts`.
using AcceptsType = std::function<bool(DType)>;
std::vector<int> find_packable_weights(const Circuit& circuit, const AcceptsType& accepts = nullptr);
// How much memory they take.
std::uint64_t packed_bytes(const Circuit& circuit, const std::vector<int>& tensors);

// Whether products with weights of this type are faster packed than as a file stores them, where so many sequences are
// decoded at once. Where neighbours must never show, a few rows of packed weights are multiplied fast by matrix
// instructions alone.
bool packing_pays(DType dtype, const FeatureSet& features, std::int64_t sequences,
                  Neighbours neighbours = Neighbours::may_show);

// linear.pack of some rows, by what the table chooses.
Result<void> pack_rows(const ConstAnyView& rows, WeightLayout layout, const AnyView& packed, const KernelTable& table,
                       Context& context);

// Packs some of those weights a few megabytes at a time, and hands each part to `release` when it was packed: weights
// take as many bytes as they did, so memory need not hold them twice.
using ReleaseFunction = std::function<void(std::span<const std::byte>)>;
Result<Weights> pack_weights(const Circuit& circuit, const std::vector<int>& tensors, const KernelTable& table,
                             Context& context, const ReleaseFunction& release = nullptr);

// Lets products and lookups read what was packed; returns how many.
int use_packed_weights(Circuit& circuit, const Weights& packed);

// Weights that a device holds in a layout in the place of rows, by where their rows lie on the host.
using WeightAddresses = std::set<const std::byte*>;
struct LaidOutWeights {
  WeightLayout layout = WeightLayout::rows;
  WeightAddresses weights;
};
// Those of a type and shape that has the layout, read by products and lookups alone; of these, the ones of types that
// `accepts`.
LaidOutWeights find_laid_out_weights(const Circuit& circuit, WeightLayout layout, const AcceptsType& accepts = nullptr);
// Tells their readers; returns how many.
int use_laid_out_weights(Circuit& circuit, const LaidOutWeights& laid_out);

}  // namespace ingot
