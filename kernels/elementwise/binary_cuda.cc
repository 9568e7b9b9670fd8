#include "kernels/elementwise/binary_cuda.h"

#include "kernels/device/joint_windows.h"
#include "kernels/elementwise/binary.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(binary_cuda);
INGOT_DEVICE_FUNCTION_OF(binary_cuda, elementwise_binary);

template <class Op>
constexpr BinaryKind binary_kind = std::is_same_v<Op, Add>        ? BinaryKind::add
                                   : std::is_same_v<Op, Subtract> ? BinaryKind::subtract
                                   : std::is_same_v<Op, Multiply> ? BinaryKind::multiply
                                                                  : BinaryKind::divide;

template <class Op>
void run_binary(const BinaryArguments& a, Context& context) {
  if (a.y.empty()) return;
  const BinaryMap map = {.map = device_map(a.y, a.a, a.b), .kind = binary_kind<Op>};
  context.queue->launch(elementwise_binary_function, map_shape(map.map), map);
}

bool binary_fits(const BinaryArguments& a) { return fits_device(a.y.shape()); }

}  // namespace

template <class Op>
Variant<Op> binary_cuda() {
  return {.name = "cuda",
          .needs = {Feature::sm_80},
          .run = run_binary<Op>,
          .accepts = binary_fits,
          .device_function = &elementwise_binary_function};
}
template Variant<Add> binary_cuda<Add>();
template Variant<Subtract> binary_cuda<Subtract>();
template Variant<Multiply> binary_cuda<Multiply>();
template Variant<Divide> binary_cuda<Divide>();

}  // namespace ingot
