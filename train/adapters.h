// Adapters (model/plan/adapters.h) that learn: two narrow matrices beside a weight that stays as it is, so that a model
// whose weights are quantized, or too many to train, can learn all the same. A begins random and B zero, so that the
// first pass is the model's own.
#pragma once

#include "model/circuit/circuit.h"
#include "model/circuit/weights.h"
#include "train/circuit/backward.h"

namespace ingot {

struct AdapterOptions {
  std::int64_t rank = 8;
  double alpha = 16;
  std::vector<std::string> targets = {"attn_q", "attn_v"};  // "attn_q" stands for blk.*.attn_q.weight
  std::uint64_t seed = 1;
};

// The model's weights and behind them the adapters' ("<weight>.lora_a", "<weight>.lora_b"). `base` must outlive it. An
// error where a target names no matrix of the model.
struct AdaptedWeights {
  Weights weights;
  WeightNames adapters;
};
Result<AdaptedWeights> add_adapters(const Weights& base, const AdapterOptions& options);

// Adds the adapters that `weights` has to every product with a weight that has one.
Result<void> add_adapters_to(Circuit& circuit, const Weights& weights, const AdapterOptions& options);

// W + (alpha / rank) B A, as floats. Precondition: the weight has an adapter, and target has room.
void merge_adapter(const Weights& weights, std::string_view name, const AdapterOptions& options,
                   std::span<float> target);
bool has_adapter(const Weights& weights, std::string_view name);

}  // namespace ingot
