#include "model/circuit/weights.h"

#include "base/units.h"
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

std::uint64_t Weights::reserved_bytes(DType dtype, const Shape& shape) {
  constexpr std::uint64_t cache_line = 64;
  return align_up(static_cast<std::uint64_t>(row_bytes(dtype, element_count(shape))), cache_line);
}

Result<void> Weights::reserve(std::uint64_t bytes) {
  owned_.push_back(TRY(Memory::allocate(Bytes(bytes))));
  reserved_ = owned_.back().bytes();
  return {};
}

Result<AnyView> Weights::add_owned(std::string_view name, DType dtype, const Shape& shape) {
  const std::uint64_t bytes = reserved_bytes(dtype, shape);
  if (bytes > reserved_.size()) TRY(reserve(bytes));
  const AnyView view(reserved_.data(), dtype, shape);
  reserved_ = reserved_.subspan(bytes);
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

Weights::Stored Weights::find_stored(std::string_view name) const {
  for (const std::string_view suffix : {std::string_view(), interleaved_suffix}) {
    std::string stored = std::string(name) + std::string(suffix);
    if (const ConstAnyView* view = find(stored)) return {std::move(stored), view};
  }
  return {};
}

}  // namespace ingot
