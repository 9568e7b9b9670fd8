#include "machine/gpu/emulated/order.h"

#include <algorithm>
#include <numeric>

namespace ingot::emulated {
namespace {

// A generator that is the same on every host (Knuth's constants for 64 bits); what it gives out are the upper bits.
class Lot {
 public:
  explicit Lot(int number) : state_(static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15u) {}
  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_;
};

template <class Number>
void draw(std::span<Number> numbers, int number) {
  Lot lot(number);
  for (std::size_t left = numbers.size(); left > 1; --left) {
    std::swap(numbers[left - 1], numbers[lot.below(static_cast<std::uint32_t>(left))]);
  }
}

}  // namespace

void Order::arrange(std::span<std::uint16_t> threads) const {
  std::iota(threads.begin(), threads.end(), std::uint16_t{0});
  if (number_ == 2 || number_ == 3) {
    std::ranges::sort(threads, {},
                      [](std::uint16_t thread) { return thread % lanes_per_warp * most_threads + thread; });
  }
  if (number_ == 1 || number_ == 3) std::ranges::reverse(threads);
  if (number_ >= 4) draw(threads, number_);
}

void Order::arrange_lanes(std::array<std::uint8_t, lanes_per_warp>& lanes) const {
  std::iota(lanes.begin(), lanes.end(), std::uint8_t{0});
  if (number_ == 1 || number_ == 3) std::ranges::reverse(lanes);
  if (number_ >= 4) draw(std::span<std::uint8_t>(lanes), number_);
}

BlockLine Order::line_up(std::uint64_t blocks) const {
  if (number_ == 1 || number_ == 3) return {blocks - 1, blocks - 1, blocks};
  if (number_ < 4) return {0, 1, blocks};
  // Steps of a length that shares no divisor with the number of blocks meet every one.
  std::uint64_t step = blocks / 2 + static_cast<std::uint64_t>(number_);
  while (std::gcd(step, blocks) != 1) ++step;
  return {static_cast<std::uint64_t>(number_), step % blocks, blocks};
}

}  // namespace ingot::emulated
