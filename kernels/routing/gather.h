// Copies each token's row to the slots of its experts.
//
//   y[s] = x[permutation[s] / k],  k = S / T
//
// C1  x has shape [T, D]
// C2  permutation has shape [S] and holds 0 .. S-1, each once; S is a multiple of T (0 where T is 0)
// C3  y has shape [S, D]
// C4  the last axes of x and y are packed
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct RoutingGather {
  static constexpr std::string_view name = "routing.gather";
  static constexpr std::string_view equation = "y[s] = x[permutation[s] / k]";
  static constexpr Backward backward = Backward::by("routing.gather_backward");

  struct Arguments {
    View<const float> x;
    View<const std::int32_t> permutation;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::permutation, "permutation"),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RoutingGather>> variants();
  static void cases(CaseList<RoutingGather>& list);
};

// Its backward: a token's gradient is the sum over its slots, in the order of its choices.
//
//   dx[t] = sum_j dy[slot of choice t k + j]
//
// C1  dx has shape [T, D]
// C2  permutation as above
// C3  dy has shape [S, D]
// C4  the last axes of dy and dx are packed
struct RoutingGatherBackward {
  static constexpr std::string_view name = "routing.gather_backward";
  static constexpr std::string_view equation = "dx[t] = sum_j dy[slot(t k + j)]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const std::int32_t> permutation;
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(input(&Arguments::permutation, "permutation"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RoutingGatherBackward>> variants();
  static void cases(CaseList<RoutingGatherBackward>& list);
};

void routing_gather_reference(const RoutingGather::Arguments& arguments, Context& context);
void routing_gather_rows(const RoutingGather::Arguments& arguments, Context& context);
extern const Variant<RoutingGather> routing_gather_cuda;
void routing_gather_backward_reference(const RoutingGatherBackward::Arguments& arguments, Context& context);
extern const SimdEntries<RoutingGatherBackward> routing_gather_backward_simd;

}  // namespace ingot
