// The k largest (or smallest) elements of each row, in order:
//
//   values[r,j] = x[r, indices[r,j]],   x[r, indices[r,0]] >= x[r, indices[r,1]] >= ...   (<= where largest is false)
//
// k is the last axis of values. Of equal elements the one with the lower index comes first. NaN counts as larger than
// every number, and -0 equals +0, so the order is total and every variant finds the same indices.
//
// C1  x has rank 1 to 6, and a packed last axis of D = 1 to 2^31 - 1 elements
// C2  values has x's shape but a last axis of k, 1 <= k <= D; packed
// C3  indices has values' shape; packed
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct ElementwiseTopK {
  static constexpr std::string_view name = "elementwise.top_k";
  static constexpr std::string_view equation = "values[r,:] = the k largest of x[r,:], descending; indices: where";
  static constexpr Backward backward = Backward::by("elementwise.top_k_backward");

  struct Arguments {
    View<const float> x;
    bool largest = true;
    View<float> values;
    View<std::int32_t> indices;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), attribute(&Arguments::largest, "largest"),
                        output(&Arguments::values, "values"), output(&Arguments::indices, "indices"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<ElementwiseTopK>> variants();
  static void cases(CaseList<ElementwiseTopK>& list);
};

void top_k_reference(const ElementwiseTopK::Arguments& arguments, Context& context);
extern const SimdEntries<ElementwiseTopK> top_k_simd;
extern const Variant<ElementwiseTopK> top_k_cuda;

// Its backward: each gradient goes back to where its value came from.
//
//   dx[r,i] = sum over j with indices[r,j] = i of dvalues[r,j], in the order of j
//
// C1  dx has rank 1 to 6, and a packed last axis of D = 1 to 2^31 - 1 elements
// C2  dvalues has dx's shape but a last axis of k, 1 <= k <= D; packed
// C3  indices has dvalues' shape, packed, each index in [0, D)
struct ElementwiseTopKBackward {
  static constexpr std::string_view name = "elementwise.top_k_backward";
  static constexpr std::string_view equation = "dx[r, indices[r,j]] = dvalues[r,j], otherwise 0";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const std::int32_t> indices;
    View<const float> dvalues;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(input(&Arguments::indices, "indices"), input(&Arguments::dvalues, "dvalues"),
                        output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<ElementwiseTopKBackward>> variants();
  static void cases(CaseList<ElementwiseTopKBackward>& list);
};

void top_k_backward_reference(const ElementwiseTopKBackward::Arguments& arguments, Context& context);
extern const SimdEntries<ElementwiseTopKBackward> top_k_backward_simd;

}  // namespace ingot
