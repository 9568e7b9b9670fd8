#include "kernels/linear/fused/gated_matmul.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/fused/gated_matmul_cases.h"

namespace ingot {

FusedProducts GatedMatmul::products(const Arguments& a) {
  FusedProducts products{.parts = {}, .count = 2, .curve = a.curve};
  products.parts[0] = Matmul::Arguments::of(a, a.gate_weights, a.gate_bias, a.y);
  products.parts[1] = Matmul::Arguments::of(a, a.up_weights, a.up_bias, View<float>(nullptr, a.y.shape()));
  return products;
}

Result<void> GatedMatmul::check(const Arguments& a) {
  TRY(require_product_input(name, "C1", a, {a.gate_weights, a.up_weights}));
  TRY(require_fused_weights(name, "C2", "gate_weights", a, a.gate_weights));
  TRY(require_fused_weights(name, "C2", "up_weights", a, a.up_weights));
  TRY(require_shape(name, "C2", "up_weights", a.up_weights, a.gate_weights.shape()));
  const std::int64_t columns = a.gate_weights.size(0);
  if (is_present(a.gate_bias)) TRY(require_packed(name, "C3", "gate_bias", a.gate_bias, {columns}));
  if (is_present(a.up_bias)) TRY(require_packed(name, "C3", "up_bias", a.up_bias, {columns}));
  TRY(require_curve(name, "C4", a.curve));
  return require_packed(name, "C5", "y", a.y, {a.shape()[0], columns});
}

template const Operation& describe_operation<GatedMatmul>();

}  // namespace ingot
