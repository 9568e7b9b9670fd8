// Shapes of the fused forms: one row, the few that are multiplied together, one more than that, and many; columns on
// both sides of a chunk's granule; single blocks and odd numbers of them.
#pragma once

#include <string>

#include "kernels/linear/fused/fused_products.h"
#include "kernels/linear/matmul/matmul_cases.h"

namespace ingot {

struct FusedCase {
  std::int64_t rows, columns, depth;
  DType type = DType::f32;
  FusedCurve curve = FusedCurve::silu;
  bool with_bias = false;
  bool coded = false;
  WeightLayout layout = WeightLayout::rows;

  std::string text() const {
    return MatmulCase{rows, columns, depth, type, with_bias, layout, false, coded}.text() + " curve " +
           std::to_string(static_cast<int>(curve));
  }
  void fill_input(CaseBuilder& builder, ProductInput& input) const {
    MatmulCase{rows, columns, depth, type, with_bias, layout, false, coded}.fill_input(builder, input);
  }
  ConstAnyView weights(CaseBuilder& builder) const {
    const MatmulCase product{rows, columns, depth, type};
    const AnyView stored = builder.filled_any(type, {columns, depth}, product.weight_fill());
    return MatmulCase::laid(builder, layout, stored);
  }
  View<const float> bias(CaseBuilder& builder) const {
    return with_bias ? View<const float>(builder.filled({columns})) : View<const float>();
  }
  View<float> y(CaseBuilder& builder) const { return builder.blank({rows, columns}); }
};

// Calls add(FusedCase) for each.
template <class Add>
void for_each_fused_case(Add add) {
  add(FusedCase{3, 35, 96, DType::q8_0, FusedCurve::silu, false, true});  // made wrong too, as the next two are
  for (const FusedCurve curve : {FusedCurve::silu, FusedCurve::gelu, FusedCurve::gelu_tanh, FusedCurve::relu}) {
    add(FusedCase{3, 37, 65, DType::f32, curve, true});
    add(FusedCase{2, 19, 96, DType::q8_0, curve});
  }
  add(FusedCase{1, 1, 1});
  add(FusedCase{17, 35, 67, DType::f32, FusedCurve::silu, true});
  add(FusedCase{2, 5, 0, DType::f32, FusedCurve::gelu, true});
  add(FusedCase{0, 9, 8});
  add(FusedCase{9, 0, 8});
  add(FusedCase{1, 33, 70, DType::f16});
  add(FusedCase{6, 18, 33, DType::f16, FusedCurve::gelu});
  add(FusedCase{4, 18, 33, DType::bf16, FusedCurve::gelu});
  add(FusedCase{6, 18, 40, DType::bf16});
  add(FusedCase{19, 45, 40, DType::bf16, FusedCurve::silu, true});
  for (DType type : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::iq4_nl, DType::mxfp4}) {
    add(FusedCase{1, 33, 160, type, FusedCurve::silu, true});
    add(FusedCase{4, 7, 32, type});
    add(FusedCase{18, 35, 96, type});
  }
  for (DType type : {DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_xs, DType::iq2_s}) {
    add(FusedCase{1, 33, 512, type, FusedCurve::silu, true});
    add(FusedCase{5, 19, 256, type});
  }
  add(FusedCase{3, 35, 96, DType::q4_1, FusedCurve::silu, false, true});
  for (DType type : {DType::q4_1, DType::q8_0}) add(FusedCase{20, 19, 160, type, FusedCurve::silu, true, true});
  add(FusedCase{1, 33, 768, DType::q4_k, FusedCurve::silu, false, true});
  add(FusedCase{20, 19, 256, DType::q6_k, FusedCurve::silu, true, true});
  for (DType type : interleaved_types) {
    for (const bool coded : {false, true}) {
      for (const std::int64_t rows : {1, 3, 7}) {
        add(FusedCase{rows, 48, 512, type, FusedCurve::silu, rows == 1, coded, WeightLayout::interleaved8});
      }
    }
  }
  for (DType type : plane_types) {
    for (const std::int64_t rows : {1, 3, 18}) {
      add(FusedCase{rows, 64, 1536, type, FusedCurve::gelu, rows == 1, rows == 3, WeightLayout::planes16});
    }
  }
  add(FusedCase{1, 40, 1088, DType::bf16});
  add(FusedCase{5, 48, 1096, DType::f16, FusedCurve::silu, true});
  add(FusedCase{70, 72, 80, DType::f16, FusedCurve::gelu, true});  // more tokens than go on together
  add(FusedCase{67, 133, 197, DType::bf16, FusedCurve::silu, true});
  add(FusedCase{1, 1030, 288, DType::q4_0});  // several chunks
  add(FusedCase{3, 2600, 64, DType::f32});
}

}  // namespace ingot
