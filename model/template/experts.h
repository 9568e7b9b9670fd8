// The feed-forward network as a mixture of experts: a router sends each token through a few of many small networks.
#pragma once

#include "model/template/layers.h"
#include "model/template/template.h"

namespace ingot {

struct ExpertNumbers {
  std::int64_t count = 0;          // 0: all layers are dense
  std::int64_t used = 0;           // by each token
  std::int64_t hidden = 0;         // of one expert
  std::int64_t shared_hidden = 0;  // of the expert that every token goes through; 0: there is none
  bool normalise = true;           // the chosen experts' weights add up to 1
  double scaling = 1;              // of these weights
};

// `hidden` is what an expert's size is where the file does not give it.
Result<ExpertNumbers> read_expert_numbers(const ModelSource& source, std::string_view prefix, std::int64_t hidden);

// The feed-forward network of a layer, whichever it is:
//
//   with a router ffn_gate_inp   sum_j w_j down_j(silu(gate_j x) * up_j x) over the experts j that it chooses, with
//                                weights ffn_gate_exps, ffn_up_exps and ffn_down_exps [experts, outputs, inputs], or
//                                ffn_gate_up_exps with each expert's gate rows before its up rows
//   and with ffn_up_shexp        + sigmoid(ffn_gate_inp_shexp x) down(silu(gate x) * up x), an expert for every token
//   without a router             the dense network of `hidden` units
Operand feed_forward(CircuitBuilder& builder, const Operand& x, std::int64_t hidden, const ExpertNumbers& numbers);

}  // namespace ingot
