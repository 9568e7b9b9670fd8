// The plain way to walk two tensors of one shape together, which the references use: an index per axis, counted up, and
// no cleverness that a vector variant could share a mistake with.
#pragma once

#include <cstring>

#include "tensor/subview.h"

namespace ingot {

// Calls visit(address in first, address in second) for every element, or every block of a block format, in index order.
template <class FirstByte, class SecondByte, class Visit>
void for_each_pair(const BasicAnyView<FirstByte>& first, const BasicAnyView<SecondByte>& second, Visit&& visit) {
  if (!has_elements(first.shape())) return;
  Shape blocks = first.shape();
  if (first.rank() > 0) blocks[first.rank() - 1] /= block_elements(first.dtype());
  std::int64_t index[max_rank] = {};
  while (true) {
    std::int64_t first_offset = 0;
    std::int64_t second_offset = 0;
    for (int axis = 0; axis < first.rank(); ++axis) {
      first_offset += index[axis] * first.byte_stride(axis);
      second_offset += index[axis] * second.byte_stride(axis);
    }
    visit(first.data() + first_offset, second.data() + second_offset);
    int axis = first.rank() - 1;
    while (axis >= 0 && ++index[axis] == blocks[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

// Precondition: one shape, one dtype, no common byte.
inline void move_reference(const ConstAnyView& from, const AnyView& to) {
  const auto bytes = static_cast<std::size_t>(block_bytes(from.dtype()));
  for_each_pair(from, to, [&](const std::byte* source, std::byte* target) { std::memcpy(target, source, bytes); });
}

}  // namespace ingot
