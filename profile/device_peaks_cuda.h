// What launches of the functions are told that find out what a device can do at most.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

inline constexpr unsigned peak_threads = 256;   // of a block
inline constexpr unsigned loads_in_flight = 8;  // of 16 bytes, of a thread
inline constexpr unsigned peak_chains = 8;      // of sums that do not wait for one another

struct PeakRead {
  const std::byte* data;  // blocks x peak_threads x loads_in_flight x 16 bytes
  std::uint32_t* sink;    // written where all words together are nothing, which the host sees to that they are not
};

struct PeakArithmetic {
  std::uint32_t rounds;
  std::uint32_t words[6];  // the factors' bits
  float* sink;             // written where a sum is negative, which the host sees to that none is
};

struct PeakNothing {
  std::uint32_t unused;
};

}  // namespace ingot
