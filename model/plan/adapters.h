// Adapters (LoRA, Hu et al. 2021) beside the weights that they change, which stay as they are:
//
//   y = W x + bias  becomes  y = W x + bias + sum_i factor_i B_i (A_i x)
//
// in steps of operations that there are. A product keeps its weights and its layout, and so what is packed, in planes
// or shared with another plan stays right; only what would have been fused with the whole of y is not.
#pragma once

#include <functional>

#include "model/circuit/circuit.h"

namespace ingot {

// Of one weight [outputs, inputs].
struct WeightAdapter {
  ConstAnyView first;   // A: [rank, inputs]
  ConstAnyView second;  // B: [outputs, rank]
  double factor = 1;    // finite, also as f32
  std::string mark;     // tells adapters of one weight apart in names: "@0"; may be empty where there is one
};

// What a weight is to have, by its name as a file of rows has it. A head that has no matrix of its own, and reads the
// table of embeddings, is called as if it had: the table is looked up in too, and there it stays as it is.
using FindAdapters = std::function<std::vector<WeightAdapter>(std::string_view weight)>;

inline constexpr std::string_view first_adapter_suffix = ".lora_a";
inline constexpr std::string_view second_adapter_suffix = ".lora_b";

// Names, with their shapes, of the weights that can have one: matrices, or rows of such, that a product reads.
struct AdaptableWeight {
  std::string name;
  Shape shape;
};
std::vector<AdaptableWeight> find_adaptable_weights(const Circuit& circuit);

// Before all other rewrites, which move products and change their weights. Returns how many products have adapters now.
int insert_adapters(Circuit& circuit, const FindAdapters& find);

}  // namespace ingot
