#include "train/data/batch_order.h"

#include <bit>

#include "base/random.h"

namespace ingot {

BatchOrder::BatchOrder(std::uint64_t seed, std::uint64_t epoch, std::uint64_t count)
    : count_(count), half_bits_((std::bit_width(count - 1) + 1) / 2) {
  // The seed is mixed before the epoch is added: otherwise seed 1, epoch 0 would be seed 0, epoch 1.
  RandomNumbers numbers(RandomNumbers(seed).next() + epoch);
  for (std::uint64_t& key : keys_) key = numbers.next();
}

std::uint64_t BatchOrder::permuted(std::uint64_t number) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = number >> half_bits_, right = number & mask;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t mixed = left ^ (RandomNumbers(key ^ right).next() & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

std::uint64_t BatchOrder::operator[](std::uint64_t index) const {
  std::uint64_t number = permuted(index);
  while (number >= count_) number = permuted(number);
  return number;
}

}  // namespace ingot
