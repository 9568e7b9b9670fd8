// When an output is written past the caches.
#pragma once

#include "tensor/view.h"

namespace ingot {

// An output of this size passes, together with what it was made from, through more than a core's share of any
// last-level cache before it can be read again: an addition over tensors of 64 MiB or more ran 1.2 to 1.4 times as fast
// with streaming stores. Below it an ordinary store keeps the line close to its reader.
inline constexpr std::int64_t streaming_bytes = std::int64_t{64} << 20;

// An output that replaces an input is in cache already, because it was just read.
template <class... Inputs>
bool streams_past_caches(const View<float>& output, const Inputs&... inputs) {
  const std::int64_t bytes = output.count() * static_cast<std::int64_t>(sizeof(float));
  return bytes >= streaming_bytes && ((inputs.data() != output.data()) && ...);
}

}  // namespace ingot
