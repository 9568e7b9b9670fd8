#include "kernels/linear/fused/joint_matmul.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/fused/joint_matmul_cases.h"

namespace ingot {

FusedProducts JointMatmul::products(const Arguments& a) {
  FusedProducts products{.parts = {}, .count = is_present(a.third_weights) ? 3 : 2, .curve = {}};
  products.parts[0] = Matmul::Arguments::of(a, a.first_weights, a.first_bias, a.first);
  products.parts[1] = Matmul::Arguments::of(a, a.second_weights, a.second_bias, a.second);
  products.parts[2] = Matmul::Arguments::of(a, a.third_weights, a.third_bias, a.third);
  return products;
}

Result<void> JointMatmul::check(const Arguments& a) {
  TRY(require_product_input(name, "C1", a, {a.first_weights, a.second_weights, a.third_weights}));
  if (is_present(a.third) != is_present(a.third_weights) || (is_present(a.third_bias) && !is_present(a.third))) {
    return violated(name, "C5", "expected third and third_weights together, found one without the other");
  }
  constexpr std::string_view fields[3][3] = {{"first", "first_weights", "first_bias"},
                                             {"second", "second_weights", "second_bias"},
                                             {"third", "third_weights", "third_bias"}};
  const FusedProducts all = products(a);
  for (std::size_t i = 0; i < static_cast<std::size_t>(all.count); ++i) {
    const Matmul::Arguments& part = all.parts[i];
    TRY(require_fused_weights(name, "C2", fields[i][1], a, part.weights));
    const std::int64_t columns = part.weights.size(0);
    if (is_present(part.bias)) TRY(require_packed(name, "C3", fields[i][2], part.bias, {columns}));
    TRY(require_packed(name, "C4", fields[i][0], part.y, {a.shape()[0], columns}));
  }
  return {};
}

template const Operation& describe_operation<JointMatmul>();

}  // namespace ingot
