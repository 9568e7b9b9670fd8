// In what order an emulated device runs what a real one runs at once. Sources that lack a barrier, that read what
// another block writes, or that overwrite a copy's source too early, give other bits in another order.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace ingot::emulated {

inline constexpr int order_count = 8;
inline constexpr std::uint32_t lanes_per_warp = 32;
inline constexpr std::uint32_t most_threads = 1024;

// All blocks of a launch, one after another. There are fewer than 2^31, so that no product overflows.
struct BlockLine {
  std::uint64_t first;
  std::uint64_t step;
  std::uint64_t count;
  std::uint64_t at(std::uint64_t place) const { return (first + place * step) % count; }
};

// 0: ascending. 1: descending. 2 and 3: the warps take turns, lane by lane, ascending and descending. 4 to 7: drawn by
// lot.
class Order {
 public:
  explicit Order(int number) : number_(number) {}

  // A permutation of [0, threads.size()).
  void arrange(std::span<std::uint16_t> threads) const;
  void arrange_lanes(std::array<std::uint8_t, lanes_per_warp>& lanes) const;
  BlockLine line_up(std::uint64_t blocks) const;

  // A warp whose lanes met goes on before others do, rather than queueing up behind them.
  bool lets_warps_go_on() const { return number_ < 2 || number_ == 4 || number_ == 5; }
  // Asynchronous copies are made when they are asked for, rather than when they are waited for.
  bool copies_early() const { return number_ % 2 == 1; }

 private:
  int number_;
};

}  // namespace ingot::emulated
