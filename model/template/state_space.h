// What models with a recurrent state share: their numbers, and the short convolution in front of the recurrence.
#pragma once

#include "kernels/state/causal_conv1d.h"
#include "model/template/layers.h"
#include "model/template/translation.h"

namespace ingot {

// The numbers under "<prefix>.ssm.". What they count depends a little on the recurrence.
struct StateSpaceNumbers {
  std::int64_t taps = 0;         // of the convolution
  std::int64_t inner = 0;        // channels that go through the recurrence
  std::int64_t memory = 0;       // numbers that a channel remembers
  std::int64_t rank = 0;         // of the step sizes (Mamba), or how many heads share a step size each
  std::int64_t head_groups = 1;  // heads of one share projections into and out of the memory
};

Result<StateSpaceNumbers> read_state_space_numbers(const Metadata& metadata, std::string_view prefix);

// x [tokens, channels] convolved over time by "<name>.weight" and, where there is one, "<name>.bias", each sequence
// from where it stands, and the curve of that.
struct Convolution {
  std::string_view name;
  std::int64_t taps = 0;
  ConvolutionActivation curve = ConvolutionActivation::none;
};
Operand causal_convolution(CircuitBuilder& builder, std::string_view makes, const Operand& x,
                           const Convolution& convolution);
// By ssm_conv1d, and silu of that.
Operand causal_convolution(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::int64_t taps);

// x / sqrt(mean(x^2) + epsilon) over the last axis: an RMS norm without weights.
Operand unit_rms(CircuitBuilder& builder, const std::string& makes, const Operand& x, double epsilon);

// Checkpoints keep the logarithm of a decay.
float decay_of(float logarithm);
// Decays of each memory of each channel, or one a head, which here is a column.
Result<void> add_transition(std::string_view name, const ConstAnyView& view, Weights& weights);

// Tensor names of Mamba checkpoints: those of one kind, and what both have.
CheckpointNames state_space_names(std::span<const NameRule> own);

// Translates a Mamba checkpoint: the numbers of one kind, and what both have.
Result<void> translate_state_space(const ModelFile& file, std::string_view architecture,
                                   std::span<const NumberRule> number_rules, const CheckpointNames& names,
                                   ModelSource& source);

}  // namespace ingot
