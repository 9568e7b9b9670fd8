// The Euclidean norm of all elements: what gradients are clipped by. Training keeps gradients in one arena, so this one
// tensor is all of them.
//
//   norm = sqrt( sum_i x[i]^2 )
//
// Squares are summed in double: those of small gradients leave the range of a float. Stretches of 4096 elements are
// summed apart and added in order, so the sum does not depend on threads.
//
// C1  x has rank 1 to 6 and a packed last axis; rows may lie anywhere
// C2  norm has shape [1]
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct GlobalNorm {
  static constexpr std::string_view name = "optimizer.global_norm";
  static constexpr std::string_view equation = "norm = sqrt(sum_i x[i]^2)";
  static constexpr Backward backward = Backward::none("it steers an update and is no function of the model");

  struct Arguments {
    View<const float> x;
    View<float> norm;

    static constexpr auto fields() { return field_list(input(&Arguments::x, "x"), output(&Arguments::norm, "norm")); }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<GlobalNorm>> variants();
  static void cases(CaseList<GlobalNorm>& list);
};

void global_norm_reference(const GlobalNorm::Arguments& arguments, Context& context);
extern const SimdEntries<GlobalNorm> global_norm_simd;

}  // namespace ingot
