#include "kernels/all_operations.h"

#include <vector>

#include "kernels/activation/family.h"
#include "kernels/attention/family.h"
#include "kernels/cache/family.h"
#include "kernels/elementwise/family.h"
#include "kernels/layout/family.h"
#include "kernels/linear/family.h"
#include "kernels/loss/family.h"
#include "kernels/norm/family.h"
#include "kernels/optimizer/family.h"
#include "kernels/position/family.h"
#include "kernels/quantization/family.h"
#include "kernels/routing/family.h"
#include "kernels/sampling/family.h"
#include "kernels/state/family.h"

namespace ingot {

std::span<const Operation* const> all_operations() {
  static const std::vector<const Operation*> list = [] {
    std::vector<const Operation*> joined;
    for (const auto family : {layout_operations(), elementwise_operations(), linear_operations(),
                              activation_operations(), norm_operations(), attention_operations(), position_operations(),
                              cache_operations(), state_operations(), routing_operations(), quantization_operations(),
                              loss_operations(), optimizer_operations(), sampling_operations()}) {
      joined.insert(joined.end(), family.begin(), family.end());
    }
    return joined;
  }();
  return list;
}

const Operation* find_operation(std::string_view name) {
  for (const Operation* operation : all_operations()) {
    if (operation->name == name) return operation;
  }
  return nullptr;
}

}  // namespace ingot
