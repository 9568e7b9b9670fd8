#include "train/record/checksum.h"

#include <bit>
#include <cstring>

namespace ingot {

namespace {

// One word into a lane: both steps can be undone, so two states or two words that differ never become equal. The
// rotation brings high bits down: a product alone only moves differences up, where pairs of them would cancel.
constexpr std::uint64_t absorbed(std::uint64_t lane, std::uint64_t word) {
  return std::rotl((lane ^ word) * 0x9e3779b97f4a7c15u, 29);
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  // Four lanes, because a product waits for the one before it in the same lane.
  constexpr std::size_t lane_count = 4, stride = lane_count * sizeof(std::uint64_t);
  std::uint64_t lanes[lane_count] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u,
                                     0x082efa98ec4e6c89u};  // the fraction of pi
  std::uint64_t words[lane_count];
  const std::uint64_t length = bytes.size();
  while (bytes.size() >= stride) {
    std::memcpy(words, bytes.data(), stride);
    for (std::size_t lane = 0; lane < lane_count; ++lane) lanes[lane] = absorbed(lanes[lane], words[lane]);
    bytes = bytes.subspan(stride);
  }
  if (!bytes.empty()) {
    std::memset(words, 0, stride);  // zeros at the end change nothing but the length, which counts below
    std::memcpy(words, bytes.data(), bytes.size());
    for (std::size_t lane = 0; lane < lane_count; ++lane) lanes[lane] = absorbed(lanes[lane], words[lane]);
  }
  std::uint64_t sum = absorbed(length, length);
  for (std::uint64_t lane : lanes) sum = absorbed(sum, lane);
  return sum ^ (sum >> 32);
}

}  // namespace ingot
