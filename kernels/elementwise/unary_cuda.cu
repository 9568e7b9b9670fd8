// Functions of one tensor, chosen as in binary_cuda.cu.
#include "kernels/elementwise/unary_cuda.h"

#include "kernels/device/map.h"

namespace ingot::device {
namespace {

struct UnaryFunction {
  const UnaryMap& a;

  template <unsigned Count>
  INGOT_ON_DEVICE void operator()(const float (&x)[1][Count], float (&y)[Count]) const {
    switch (a.kind) {
      case UnaryKind::scale: {
        const float factor = a.factor;
        return for_each_value(x, y, [factor](float value) { return factor * value; });
      }
      case UnaryKind::clamp: {
        const float low = a.low;
        const float high = a.high;
        // Comparisons, for NaN stays.
        return for_each_value(x, y, [low, high](float value) {
          return value < low ? low : value > high ? high : value;
        });
      }
      case UnaryKind::exponential: return for_each_value(x, y, [](float value) { return exponential(value); });
      case UnaryKind::square_root: return for_each_value(x, y, [](float value) { return square_root(value); });
    }
  }
};

}  // namespace

INGOT_DEVICE_FUNCTION(elementwise_unary, UnaryMap, 256) { map_elements(parameters.map, UnaryFunction{parameters}); }

}  // namespace ingot::device
