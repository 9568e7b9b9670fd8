#include "model/circuit/weights.h"

#include "tensor/any_view.h"
#include "tensor/block_codec.h"

namespace ingot {

void decode_all(const ConstAnyView& view, float* target) {
  const int block = block_elements(view.dtype());
  for_each_block(view, [&](std::int64_t offset) {
    decode_row(view.dtype(), view.data() + offset, target, block);
    target += block;
  });
}

Result<void> Weights::add(std::string_view name, const ConstAnyView& view) {
  if (view.rank() != 1 || view.dtype() == DType::f32) {
    views_.insert_or_assign(std::string(name), view);
    return {};
  }
  if (!is_floating_point(view.dtype()) && !is_block_format(view.dtype())) {
    views_.insert_or_assign(std::string(name), view);
    return {};
  }
  const AnyView copy = TRY(add_owned(name, DType::f32, view.shape()));
  decode_all(view, reinterpret_cast<float*>(copy.data()));
  return {};
}

Result<AnyView> Weights::add_owned(std::string_view name, DType dtype, const Shape& shape) {
  const std::int64_t bytes = element_count(shape) / block_elements(dtype) * block_bytes(dtype);
  owned_.push_back(TRY(Memory::allocate(Bytes(static_cast<std::size_t>(bytes)))));
  const AnyView view(owned_.back().data(), dtype, shape);
  views_.insert_or_assign(std::string(name), ConstAnyView(view));
  return view;
}

std::int64_t Weights::bytes() const {
  std::int64_t sum = 0;
  for (const auto& [name, view] : views_)
    sum += view.count() / block_elements(view.dtype()) * block_bytes(view.dtype());
  return sum;
}

const ConstAnyView* Weights::find(std::string_view name) const {
  const auto found = views_.find(name);
  return found == views_.end() ? nullptr : &found->second;
}

}  // namespace ingot
