// 64 bits that nobody can foretell: for secrets and for names that nobody else has.
#pragma once

#include <cstdint>
#include <random>

namespace ingot {

inline std::uint64_t any_number() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace ingot
