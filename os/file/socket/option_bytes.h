// Values of a socket's options, as calls hand them over in bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "os/syscall/errno.h"

namespace ingot::os {

// As much of it as fits; how many bytes that are.
template <class Value>
Answer<std::size_t> tell(std::span<std::byte> to, const Value& value) {
  const std::size_t bytes = std::min(to.size(), sizeof value);
  __builtin_memcpy(to.data(), &value, bytes);
  return bytes;
}
// EINVAL: there are too few.
template <class Value>
Answer<Value> value_in(std::span<const std::byte> from) {
  Value value;
  if (from.size() < sizeof value) return Errno::einval;
  __builtin_memcpy(&value, from.data(), sizeof value);
  return value;
}

}  // namespace ingot::os
