// Puts the experts' rows back in the order of the tokens: the inverse of the grouping.
//
//   y[t,j] = x[slot of choice t k + j],  that is  y[permutation[s] / k, permutation[s] % k] = x[s]
//
// C1  x has shape [S, D]
// C2  permutation has shape [S] and holds 0 .. S-1, each once
// C3  y has shape [T, k, D] with T k = S and k >= 1
// C4  the last axes of x and y are packed
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct RoutingScatter {
  static constexpr std::string_view name = "routing.scatter";
  static constexpr std::string_view equation = "y[permutation[s] / k, permutation[s] % k] = x[s]";
  static constexpr Backward backward = Backward::by("routing.scatter_backward");

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
  static std::span<const Variant<RoutingScatter>> variants();
  static void cases(CaseList<RoutingScatter>& list);
};

// Its backward: dx[s] = dy[permutation[s] / k, permutation[s] % k].
//
// C1  dx has shape [S, D]
// C2  permutation as above
// C3  dy has shape [T, k, D] with T k = S and k >= 1
// C4  the last axes of dy and dx are packed
struct RoutingScatterBackward {
  static constexpr std::string_view name = "routing.scatter_backward";
  static constexpr std::string_view equation = "dx[s] = dy[permutation[s] / k, permutation[s] % k]";
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
  static std::span<const Variant<RoutingScatterBackward>> variants();
  static void cases(CaseList<RoutingScatterBackward>& list);
};

void routing_scatter_reference(const RoutingScatter::Arguments& arguments, Context& context);
void routing_scatter_rows(const RoutingScatter::Arguments& arguments, Context& context);
extern const Variant<RoutingScatter> routing_scatter_cuda;
void routing_scatter_backward_reference(const RoutingScatterBackward::Arguments& arguments, Context& context);
void routing_scatter_backward_rows(const RoutingScatterBackward::Arguments& arguments, Context& context);

}  // namespace ingot
