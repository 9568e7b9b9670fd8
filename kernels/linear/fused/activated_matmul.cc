#include "kernels/linear/fused/activated_matmul.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/fused/activated_matmul_cases.h"

namespace ingot {

FusedProducts ActivatedMatmul::products(const Arguments& a) {
  FusedProducts products{.parts = {}, .count = 1, .curve = a.curve};
  products.parts[0] = Matmul::Arguments::of(a, a.weights, a.bias, a.y);
  return products;
}

Result<void> ActivatedMatmul::check(const Arguments& a) {
  TRY(require_product_input(name, "C1", a, {a.weights}));
  TRY(require_fused_weights(name, "C2", "weights", a, a.weights));
  if (is_present(a.bias)) TRY(require_packed(name, "C3", "bias", a.bias, {a.weights.size(0)}));
  TRY(require_curve(name, "C4", a.curve));
  return require_packed(name, "C5", "y", a.y, {a.shape()[0], a.weights.size(0)});
}

template const Operation& describe_operation<ActivatedMatmul>();

}  // namespace ingot
