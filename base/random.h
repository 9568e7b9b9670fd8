// RandomNumbers: the same numbers from the same seed on every machine and every compiler, which the standard library's
// distributions do not promise. Its whole state is one integer, so that it can be written down and taken up again.
#pragma once

#include <cstdint>

namespace ingot {

class RandomNumbers {
 public:
  // Every seed, 0 included, starts a stream of its own.
  explicit constexpr RandomNumbers(std::uint64_t seed) : state_(seed) {}

  // What continues the stream: RandomNumbers(numbers.state()) draws what `numbers` would have drawn next.
  constexpr std::uint64_t state() const { return state_; }

  // 64 random bits (splitmix64).
  constexpr std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }

  // In [0, 1), a multiple of 2^-53.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // In [0, limit), each equally often. Precondition: limit > 0.
  constexpr std::uint64_t below(std::uint64_t limit) {
    // Numbers of the last, incomplete round of `limit` would come too often: they are drawn again.
    const std::uint64_t incomplete = (0 - limit) % limit;
    std::uint64_t drawn = next();
    while (drawn < incomplete) drawn = next();
    return drawn % limit;
  }

  // Mean 0, deviation 1, as the sum of twelve uniform numbers: no library's logarithm, so the same everywhere. It never
  // leaves [-6, 6].
  constexpr double normal() {
    double sum = -6;
    for (int count = 0; count < 12; ++count) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ingot
