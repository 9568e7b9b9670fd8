// The feed-forward network as a mixture of experts: a router sends each token through a few of many small networks.
#pragma once

#include "kernels/routing/router_top_k.h"
#include "model/template/layers.h"
#include "model/template/template.h"

namespace ingot {

// How an expert's gate and up rows become what its down rows take.
enum class ExpertGate : std::uint8_t {
  silu,     // silu(gate) up
  clamped,  // gate sigmoid(1.702 gate) (up + 1), gate bounded above and up on both sides
};

struct ExpertNumbers {
  std::int64_t count = 0;          // 0: all layers are dense
  std::int64_t used = 0;           // by each token
  std::int64_t hidden = 0;         // of one expert
  std::int64_t shared_hidden = 0;  // of the expert that every token goes through; 0: there is none
  bool normalise = true;           // the chosen experts' weights add up to 1
  double scaling = 1;              // of these weights
  RouterScore score = RouterScore::softmax;
  std::int64_t groups = 1;  // of neighbours, of which the best are chosen from
  std::int64_t groups_used = 1;
  GroupScore group_score = GroupScore::best;
  ExpertGate gate = ExpertGate::silu;
  double limit = 0;  // of a clamped gate
};

// `hidden` is what an expert's size is where the file does not give it.
Result<ExpertNumbers> read_expert_numbers(const ModelSource& source, std::string_view prefix, std::int64_t hidden);

// The feed-forward network of a layer, whichever it is:
//
//   with a router ffn_gate_inp   sum_j w_j down_j(silu(gate_j x) * up_j x) over the experts j that it chooses, with
//                                weights ffn_gate_exps, ffn_up_exps and ffn_down_exps [experts, outputs, inputs], or
//                                ffn_gate_up_exps with each expert's gate rows before its up rows; biases where there
//                                are any. exp_probs_b, where there is one, chooses experts but does not weigh them
//   and with ffn_up_shexp        + down(silu(gate x) * up x), an expert for every token, of which ffn_gate_inp_shexp,
//                                where there is one, takes a share: sigmoid(ffn_gate_inp_shexp x)
//   without a router             the dense network of `hidden` units
Operand feed_forward(CircuitBuilder& builder, const Operand& x, std::int64_t hidden, const ExpertNumbers& numbers);

}  // namespace ingot
