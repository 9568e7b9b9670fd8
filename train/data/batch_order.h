// In which order an epoch visits its windows: a permutation of 0..count-1 that is computed, never stored, so that
// (epoch, index) is all there is to remember of how far a run has come.
//
// A Feistel network permutes the numbers of 2b bits: each round adds a keyed function of one half to the other, which
// is undone by doing it again, so that whatever the function is no two numbers meet. 2b is the least even number of
// bits that holds `count`; a result beyond the count is permuted again until it is one of ours (cycle walking), which
// keeps it a permutation and takes fewer than four steps on average.
#pragma once

#include <array>
#include <cstdint>

namespace ingot {

class BatchOrder {
 public:
  // Every seed and every epoch has an order of its own. Precondition: 0 < count <= 2^62.
  BatchOrder(std::uint64_t seed, std::uint64_t epoch, std::uint64_t count);

  // Precondition: index < count.
  std::uint64_t operator[](std::uint64_t index) const;

 private:
  std::uint64_t permuted(std::uint64_t number) const;

  std::array<std::uint64_t, 8> keys_{};
  std::uint64_t count_;
  int half_bits_;
};

}  // namespace ingot
