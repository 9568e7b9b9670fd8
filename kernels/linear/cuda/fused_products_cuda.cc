// Fused forms on a device: their products one after another, then the curve.
#include "kernels/linear/cuda/fused_products_cuda.h"
#include "base/units.h"
#include "kernels/linear/cuda/fused_curves_cuda.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(fused_curves_cuda);
INGOT_DEVICE_FUNCTION_OF(fused_curves_cuda, apply_fused_curve);

PreparedKind kind_of(const Matmul::Arguments& part) { return prepared_kind(part.weights.dtype(), part.layout); }

// Scratch: the second factor | x prepared for each kind of weights
class FusedDeviceScratch {
 public:
  explicit FusedDeviceScratch(const FusedProducts& products) {
    const Shape& shape = products.parts[0].shape();
    if (products.has_factor()) {
      end_ = align_up(static_cast<std::size_t>(products.parts[0].y.count()) * sizeof(float), 256);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(products.count); ++i) {
      const PreparedKind kind = kind_of(products.parts[i]);
      std::size_t same = 0;
      while (kind_of(products.parts[same]) != kind) ++same;
      is_first_[i] = same == i;
      starts_[i] = same < i ? starts_[same] : end_;
      if (same == i) end_ += prepared_x_bytes(kind, shape[0], shape[1]);
    }
  }

  std::size_t bytes() const { return end_; }
  bool is_first_of_kind(std::size_t part) const { return is_first_[part]; }
  std::size_t start(std::size_t part) const { return starts_[part]; }

 private:
  std::array<std::size_t, 3> starts_ = {};
  std::array<bool, 3> is_first_ = {};
  std::size_t end_ = 0;
};

bool are_of_one_kind(const FusedProducts& products) {
  for (std::size_t i = 1; i < static_cast<std::size_t>(products.count); ++i) {
    if (kind_of(products.parts[i]) != kind_of(products.parts[0])) return false;
  }
  return true;
}

}  // namespace

bool can_run_fused_on_device(const FusedProducts& products) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(products.count); ++i) {
    const Matmul::Arguments& part = products.parts[i];
    if (!fits_device_product(part, part.weights)) return false;
  }
  return true;
}

std::size_t fused_device_scratch_bytes(const FusedProducts& products) { return FusedDeviceScratch(products).bytes(); }

void run_fused_on_device(const FusedProducts& products, Context& context) {
  if (products.parts[0].shape()[0] == 0) return;
  const FusedDeviceScratch scratch(products);
  std::byte* const place = context.scratch.data();
  const View<float>& y = products.parts[0].y;
  const View<float> up(reinterpret_cast<float*>(place), y.shape());
  const bool go_together = are_of_one_kind(products);
  const JointProducts joint = joint_products(products);
  const bool are_unprepared = go_together && takes_x_as_it_is(joint, products.parts[0]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(products.count) && !are_unprepared; ++i) {
    const Matmul::Arguments& part = products.parts[i];
    std::byte* const prepared = place + scratch.start(i);
    if (scratch.is_first_of_kind(i)) {
      enqueue_preparation(part, kind_of(part), prepared, *context.queue);
    }
  }
  if (go_together && enqueue_together(joint, products.parts[0], place + scratch.start(0), *context.queue)) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(products.count); ++i) {
    const Matmul::Arguments& part = products.parts[i];
    const View<float>& to = products.has_factor() && i == 1 ? up : part.y;
    enqueue_product(device_product(part, to), part.weights.dtype(), part, place + scratch.start(i), *context.queue);
  }
  if (!products.curve.has_value() || y.empty()) return;
  const auto rows = static_cast<std::uint32_t>(y.size(0));
  const auto columns = static_cast<std::uint32_t>(y.size(1));
  context.queue->launch(apply_fused_curve_function,
                        {.blocks = (columns + 255) / 256, .blocks_y = std::min(rows, 65535u), .threads = 256},
                        FusedCurves{.curve = static_cast<std::uint8_t>(*products.curve),
                                    .y = y.data(),
                                    .y_stride = y.stride(0),
                                    .up = products.has_factor() ? up.data() : nullptr,
                                    .rows = rows,
                                    .columns = columns});
}

}  // namespace ingot
