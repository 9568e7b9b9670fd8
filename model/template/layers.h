// Pieces that many architectures share, each a few unfused contracts. They name their tensors within the builder's
// current layer, so a piece may be used once a layer under one name.
#pragma once

#include "kernels/attention/visibility.h"
#include "kernels/position/rotation.h"
#include "model/circuit/builder.h"
#include "model/template/pass_inputs.h"

namespace ingot {

// The inputs that templates read, as operands.
struct PassOperands {
  Operand tokens, positions, wanted;
  explicit PassOperands(CircuitBuilder& builder);
};

// Rows of `table` for the pass's tokens, or for their positions: [tokens, width].
Operand embedding(CircuitBuilder& builder, std::string_view makes, const Operand& tokens, std::string_view table,
                  std::int64_t vocabulary, std::int64_t width);

// x W^T + b for weights "<name>.weight" [outputs, inputs] and, where the model has it, "<name>.bias". The result is
// called `makes`.
Operand linear(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::string_view name,
               std::int64_t outputs);
Operand linear(CircuitBuilder& builder, std::string_view name, const Operand& x, std::int64_t outputs);

Operand rms_norm(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::string_view name,
                 double epsilon);
Operand layer_norm(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::string_view name,
                   double epsilon);
Operand residual_add(CircuitBuilder& builder, std::string_view makes, const Operand& x, const Operand& residual);
Operand scaled(CircuitBuilder& builder, std::string_view makes, const Operand& x, double factor);
Operand multiplied(CircuitBuilder& builder, std::string_view makes, const Operand& a, const Operand& b);
// y = operation(x), for the curves of kernels/activation and kernels/elementwise.
Operand curve(CircuitBuilder& builder, std::string_view operation, std::string_view makes, const Operand& x);

// How queries and keys are turned by their positions.
struct Rotation {
  std::int64_t dimensions = 0;  // of each head, from its first on
  double base = 10000;
  PairStyle style = PairStyle::half_split;
  RopeScaling scaling = RopeScaling::none;
  double factor = 1;
  std::int64_t original_context = 0;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  double beta_fast = 32;
  double beta_slow = 1;
  bool whole_ramp = true;  // of yarn: between whole pairs
  double attention_factor = 0;
  std::string frequency_factors = {};  // a weight's full name; empty: none

  // The same turns without any scaling, that of cos and sin included: for layers that see no further than a window.
  Rotation unscaled() const { return {.dimensions = dimensions, .base = base, .style = style}; }
};

// x [tokens, heads, dimensions] turned.
Operand rotated(CircuitBuilder& builder, std::string_view makes, const Operand& x, const Operand& positions,
                const Rotation& rotation);

struct Attention {
  std::int64_t heads = 0;
  std::int64_t value_dimensions = 0;
  double scale = 0;
  std::int64_t window = 0;  // 0: all
  double softcap = 0;       // 0: none
  bool has_sinks = false;   // attn_sinks, a score of each head that takes its share and gives nothing
};

// Lets every token attend to the tokens of its run, or to those up to itself. q, k, v are [tokens, heads, dimensions];
// the result is [tokens, heads * value dimensions].
Operand attention_over_runs(CircuitBuilder& builder, const Operand& q, const Operand& k, const Operand& v,
                            const Attention& attention, MaskKind mask = MaskKind::causal);

// down(f(gate x) * up x), with weights ffn_gate, ffn_up and ffn_down, or ffn_up alone holding the gate's rows before
// its own (as phi3 stores them). `activation` is an operation.
Operand gated_feed_forward(CircuitBuilder& builder, const Operand& x, std::int64_t hidden, std::string_view activation);

// down(f(up x)), with weights ffn_up and ffn_down.
Operand feed_forward(CircuitBuilder& builder, const Operand& x, std::int64_t hidden, std::string_view activation);

// The pass's result: scores over the vocabulary by output.weight, or by the embedding table where the model has no such
// weight; c tanh(s / c) of them where the cap c is not 0. Where vectors are asked for, x itself.
void scores(CircuitBuilder& builder, const Operand& x, std::int64_t vocabulary, double softcap);

// The rows of the tokens whose output is wanted.
Operand wanted_rows(CircuitBuilder& builder, std::string_view makes, const Operand& x, const Operand& wanted);

}  // namespace ingot
