// RoundTrip: how long an answer takes, and so how long to wait for one (RFC 6298).
#pragma once

#include <algorithm>
#include <cstdint>

#include "os/network/tcp/settings.h"

namespace ingot::os::network {

class RoundTrip {
 public:
  void sample(Nanoseconds measured);

  bool is_known() const { return smoothed_ != 0; }
  Nanoseconds smoothed() const { return Nanoseconds(std::int64_t{smoothed_} * 1000); }
  Nanoseconds variance() const { return Nanoseconds(std::int64_t{variance_} * 1000); }
  Nanoseconds least() const { return Nanoseconds(std::int64_t{least_} * 1000); }
  // Doubled for every time that it has expired since the last answer. The floor lies under the variance's part: a
  // path whose delay never varies still gets that much of patience.
  Nanoseconds timeout(const TcpSettings& settings, unsigned backoff) const;

 private:
  // Microseconds; 71 minutes at most.
  std::uint32_t smoothed_ = 0, variance_ = 0, least_ = 0;
};

}  // namespace ingot::os::network
