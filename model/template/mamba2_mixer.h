// What Mamba 2 does with the normed input of a layer, in models of nothing else and beside attention in others:
//
//   z, x B C, dt = in(n);  x B C = silu(convolution(x B C));  delta = softplus(dt + bias)
//   mixer = out(norm(mamba2(x, delta, A, B, C, D) * silu(z))), without the norm where the model has none
#pragma once

#include <limits>

#include "model/template/state_space.h"

namespace ingot {

struct Mamba2Numbers {
  StateSpaceNumbers space;
  std::int64_t width = 0;  // of what goes in and comes out
  double epsilon = 1e-5;   // of the norm
  bool has_norm = true;
  std::int64_t norm_groups = 1;  // parts of the inner width that are normalised each
  double least_step = 0;
  double most_step = std::numeric_limits<double>::infinity();
};

// The numbers under "<prefix>.ssm.", checked to fit each other and the norm's weights.
Result<Mamba2Numbers> read_mamba2_numbers(const ModelSource& source, std::string_view prefix, std::int64_t width,
                                          double epsilon);

Operand mamba2_mixer(CircuitBuilder& builder, const Operand& normed, const Mamba2Numbers& numbers);

// config.json's time_step_limit: bounds of the step size, for which GGUF has no keys.
Result<void> translate_step_limit(const ModelFile& file, Metadata& metadata);

// One number a head, as a column.
Result<void> add_column(std::string_view name, const ConstAnyView& view, Weights& weights);

}  // namespace ingot
