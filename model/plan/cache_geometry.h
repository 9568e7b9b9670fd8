// How a session keeps keys and values (see kernels/cache/cache_view.h).
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace ingot {

struct CacheGeometry {
  DType dtype = DType::f16;
  std::int64_t pages = 1;
  std::int64_t page_length = 64;
  std::int64_t pages_per_sequence = 1;
  std::int64_t sequences = 1;
  // Layers that see no further than ring_window keep their last positions alone, in ring_pages a sequence. A model has
  // one window as a rule; of several, the largest sizes the ring of all.
  std::int64_t ring_window = 0;  // 0: every layer keeps all positions
  std::int64_t ring_pages = 0;

  bool keeps_in_ring(std::int64_t window) const { return window > 0 && window <= ring_window; }
  // Tokens that a sequence may come to have.
  std::int64_t longest_sequence() const { return pages_per_sequence * page_length; }
};

}  // namespace ingot
