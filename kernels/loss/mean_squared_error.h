// Mean squared error.
//
//   element[i] = (x[i] - target[i])^2;   loss = element (none) | sum | mean over all elements
//
// C1  x and target have the same shape, rank 1 to 6, and packed last axes
// C2  loss has x's shape and a packed last axis for none, [1] otherwise
// C3  reduction is none, sum or mean; mean needs at least one element
#pragma once

#include "kernels/loss/cross_entropy.h"

namespace ingot {

struct MeanSquaredError {
  static constexpr std::string_view name = "loss.mean_squared_error";
  static constexpr std::string_view equation = "element[i] = (x[i] - target[i])^2; then none, sum or mean";
  static constexpr Backward backward = Backward::by("loss.mean_squared_error_backward");

  struct Arguments {
    View<const float> x;
    View<const float> target;
    Reduction reduction = Reduction::mean;
    View<float> loss;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::target, "target"),
                        attribute(&Arguments::reduction, "reduction"), output(&Arguments::loss, "loss"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MeanSquaredError>> variants();
  static void cases(CaseList<MeanSquaredError>& list);
};

void mean_squared_error_reference(const MeanSquaredError::Arguments& arguments, Context& context);
extern const SimdEntries<MeanSquaredError> mean_squared_error_simd;
extern const Variant<MeanSquaredError> mean_squared_error_cuda;

// dx[i] = 2 g (x[i] - target[i]), dtarget = -dx; g is dloss[i], dloss, or dloss over the element count.
// C1 as the forward; C2: dloss has the loss's shape, dx and dtarget x's with packed last axes; C3 as the forward.
struct MeanSquaredErrorBackward {
  static constexpr std::string_view name = "loss.mean_squared_error_backward";
  static constexpr std::string_view equation = "dx[i] = 2 g (x[i] - target[i]), dtarget[i] = -dx[i]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const float> target;
    View<const float> dloss;
    Reduction reduction = Reduction::mean;
    View<float> dx;
    View<float> dtarget;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::target, "target"),
                        input(&Arguments::dloss, "dloss"), attribute(&Arguments::reduction, "reduction"),
                        output(&Arguments::dx, "dx"), optional_output(&Arguments::dtarget, "dtarget"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MeanSquaredErrorBackward>> variants();
  static void cases(CaseList<MeanSquaredErrorBackward>& list);
};

void mean_squared_error_backward_reference(const MeanSquaredErrorBackward::Arguments& arguments, Context& context);
extern const SimdEntries<MeanSquaredErrorBackward> mean_squared_error_backward_simd;

}  // namespace ingot
