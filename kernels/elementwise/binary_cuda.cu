// Arithmetic of two tensors. Which one is the same for the whole launch, so asking once a thread costs nothing beside
// the memory.
#include "kernels/elementwise/binary_cuda.h"

#include "kernels/device/map.h"

namespace ingot::device {
namespace {

struct BinaryFunction {
  BinaryKind kind;

  template <unsigned Count>
  INGOT_ON_DEVICE void operator()(const float (&x)[2][Count], float (&y)[Count]) const {
    switch (kind) {
      case BinaryKind::add: return for_each_value(x, y, [](float a, float b) { return a + b; });
      case BinaryKind::subtract: return for_each_value(x, y, [](float a, float b) { return a - b; });
      case BinaryKind::multiply: return for_each_value(x, y, [](float a, float b) { return a * b; });
      case BinaryKind::divide: return for_each_value(x, y, [](float a, float b) { return a / b; });
    }
  }
};

}  // namespace

INGOT_DEVICE_FUNCTION(elementwise_binary, BinaryMap, 256) {
  map_elements(parameters.map, BinaryFunction{parameters.kind});
}

}  // namespace ingot::device
