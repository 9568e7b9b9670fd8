// The experts' answers, weighted and added up in the order of each token's choices.
//
//   y[t] = sum_j weights[t,j] x[slot of choice t k + j]
//
// C1  x has shape [S, D]
// C2  permutation has shape [S] and holds 0 .. S-1, each once
// C3  weights has shape [T, k] with T k = S and k >= 1
// C4  y has shape [T, D]
// C5  the last axes of x and y are packed
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct RoutingCombine {
  static constexpr std::string_view name = "routing.combine";
  static constexpr std::string_view equation = "y[t] = sum_j weights[t,j] x[slot(t k + j)]";
  static constexpr Backward backward = Backward::by("routing.combine_backward");

  struct Arguments {
    View<const float> x;
    View<const std::int32_t> permutation;
    View<const float> weights;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::permutation, "permutation"),
                        input(&Arguments::weights, "weights"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RoutingCombine>> variants();
  static void cases(CaseList<RoutingCombine>& list);
};

// Its backward, with s the slot of choice t k + j:
//
//   dx[s] = weights[t,j] dy[t];   dweights[t,j] = <dy[t], x[s]>
//
// C1  x and dx have shape [S, D]
// C2, C3 as above; dweights has the shape of weights
// C4  dy has shape [T, D]
// C5  the last axes of x, dx and dy are packed
struct RoutingCombineBackward {
  static constexpr std::string_view name = "routing.combine_backward";
  static constexpr std::string_view equation =
      "dx[slot(t k + j)] = weights[t,j] dy[t], dweights[t,j] = <dy[t], x[slot]>";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const std::int32_t> permutation;
    View<const float> weights;
    View<const float> dy;
    View<float> dx;
    View<float> dweights;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::permutation, "permutation"),
                        input(&Arguments::weights, "weights"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dx, "dx"), output(&Arguments::dweights, "dweights"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RoutingCombineBackward>> variants();
  static void cases(CaseList<RoutingCombineBackward>& list);
};

void routing_combine_reference(const RoutingCombine::Arguments& arguments, Context& context);
extern const SimdEntries<RoutingCombine> routing_combine_simd;
extern const Variant<RoutingCombine> routing_combine_cuda;
void routing_combine_backward_reference(const RoutingCombineBackward::Arguments& arguments, Context& context);
extern const SimdEntries<RoutingCombineBackward> routing_combine_backward_simd;

}  // namespace ingot
