// Footprint: the bytes from a view's first to behind its last, those between its elements included.
#pragma once

#include <cstdint>

#include "tensor/any_view.h"

namespace ingot {

struct Footprint {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  std::size_t size() const { return end - begin; }
};

// Nothing, {0, 0}, of a view that has no elements.
Footprint footprint_of(const ConstAnyView& view);

// The view's shape with its last axis counted in blocks.
Shape block_counts(const ConstAnyView& view);

}  // namespace ingot
