// How linear.matmul and its derivatives become packed products: one function a variant, instantiated for each vector
// target. The grouped operations call the same functions expert by expert.
#pragma once

#include "kernels/linear/matmul/matmul.h"
#include "kernels/linear/matmul/matmul_backward.h"
#include "kernels/linear/ways/floats/gemm.h"

namespace ingot {

// The product that a call asks for, activations as they are.
Gemm gemm_of(const Matmul::Arguments& arguments);
Gemm gemm_of(const MatmulBackwardInput::Arguments& arguments);
Gemm gemm_of(const MatmulBackwardWeight::Arguments& arguments);

// Activations as the weights ask for them (see matmul.h): as they are, or rounded to codes, to bf16 or to halves.
constexpr bool rounds_activations(DType weight_type) { return weight_type != DType::f32; }
constexpr std::size_t rounded_scratch_bytes(std::int64_t rows, std::int64_t depth, DType weight_type) {
  return rounds_activations(weight_type) ? static_cast<std::size_t>(rows * depth) * sizeof(float) : 0;
}
// Packed panels, behind them the rounded activations.
std::size_t packed_scratch_bytes(std::int64_t rows, std::int64_t columns, std::int64_t depth, DType weight_type);

// The product with activations rounded where the weights ask for it. `scratch` has rounded_scratch_bytes; without
// workers the calling thread does it alone.
Gemm with_rounded_activations(Gemm gemm, RoundFunction round, Workers* workers, std::byte* scratch);

inline bool has_few_rows(const Matmul::Arguments& arguments) {
  const std::int64_t few = is_block_format(arguments.weights.dtype()) ? dot_rows : float_dot_rows;
  return arguments.x.size(0) <= few && arguments.layout == WeightLayout::rows;
}

template <SimdTarget target>
void matmul_threaded(const Matmul::Arguments& arguments, Context& context) {
  Gemm gemm = gemm_of(arguments);
  std::byte* scratch = context.scratch.data();
  gemm = with_rounded_activations(gemm, round_activations[target], &context.workers,
                                  scratch + gemm_scratch_bytes(gemm.columns, gemm.depth));
  gemm_threaded[target](gemm, context.workers, scratch);
}

template <SimdTarget target>
void matmul_packed(const Matmul::Arguments& arguments, Context& context) {
  Gemm gemm = gemm_of(arguments);
  std::byte* scratch = context.scratch.data();
  gemm = with_rounded_activations(gemm, round_activations[target], nullptr,
                                  scratch + gemm_scratch_bytes(gemm.columns, gemm.depth));
  gemm_serial[target](gemm, scratch);
}

// Precondition: has_few_rows(arguments).
template <SimdTarget target>
void matmul_dot(const Matmul::Arguments& arguments, Context& context) {
  const Gemm gemm = gemm_of(arguments);
  const auto& products = is_block_format(gemm.right.dtype) ? gemm_codes : gemm_dot;
  run_dot(*products[target], gemm, context.workers, context.scratch.data());
}

// Preconditions: has_few_rows(arguments), block format.
template <const DotProduct* const& codes>
void matmul_dot_codes(const Matmul::Arguments& arguments, Context& context) {
  run_dot(*codes, gemm_of(arguments), context.workers, context.scratch.data());
}

// A derivative is a packed product as it is.
template <class Arguments>
std::size_t gemm_run_scratch(const Arguments& arguments, int) {
  const Gemm gemm = gemm_of(arguments);
  return gemm_scratch_bytes(gemm.columns, gemm.depth);
}
template <SimdTarget target, class Arguments>
void gemm_run(const Arguments& arguments, Context& context) {
  gemm_threaded[target](gemm_of(arguments), context.workers, context.scratch.data());
}

}  // namespace ingot
