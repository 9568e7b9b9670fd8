#include "kernels/elementwise/unary_cuda.h"

#include "kernels/device/joint_windows.h"
#include "kernels/elementwise/unary.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(unary_cuda);
INGOT_DEVICE_FUNCTION_OF(unary_cuda, elementwise_unary);

template <class Op>
constexpr UnaryKind unary_kind = std::is_same_v<Op, Scale>         ? UnaryKind::scale
                                 : std::is_same_v<Op, Clamp>       ? UnaryKind::clamp
                                 : std::is_same_v<Op, Exponential> ? UnaryKind::exponential
                                                                   : UnaryKind::square_root;

template <class Op>
void run_unary(const typename Op::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  UnaryMap map = {.map = device_map(a.y, a.x), .kind = unary_kind<Op>, .factor = 1, .low = 0, .high = 0};
  if constexpr (requires { a.factor; }) map.factor = a.factor;
  if constexpr (requires { a.low; }) map.low = a.low;
  if constexpr (requires { a.high; }) map.high = a.high;
  context.queue->launch(elementwise_unary_function, map_shape(map.map), map);
}

template <class Op>
bool unary_fits(const typename Op::Arguments& a) {
  return fits_device(a.y.shape());
}

}  // namespace

template <class Op>
Variant<Op> unary_cuda() {
  return {.name = "cuda",
          .needs = {Feature::sm_80},
          .run = run_unary<Op>,
          .accepts = unary_fits<Op>,
          .device_function = &elementwise_unary_function};
}
template Variant<Scale> unary_cuda<Scale>();
template Variant<Clamp> unary_cuda<Clamp>();
template Variant<Exponential> unary_cuda<Exponential>();
template Variant<SquareRoot> unary_cuda<SquareRoot>();

}  // namespace ingot
