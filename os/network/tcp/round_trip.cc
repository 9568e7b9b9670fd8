#include "os/network/tcp/round_trip.h"

namespace ingot::os::network {

void RoundTrip::sample(Nanoseconds measured) {
  const std::int64_t longest = std::int64_t{1} << 31;
  const auto sample = static_cast<std::uint32_t>(std::clamp<std::int64_t>(measured.count() / 1000, 1, longest));
  if (smoothed_ == 0) {
    smoothed_ = least_ = sample;
    variance_ = sample / 2;
    return;
  }
  const std::uint32_t error = sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample;
  variance_ = static_cast<std::uint32_t>((std::uint64_t{variance_} * 3 + error) / 4);
  smoothed_ = static_cast<std::uint32_t>((std::uint64_t{smoothed_} * 7 + sample) / 8);
  if (smoothed_ == 0) smoothed_ = 1;
  least_ = std::min(least_, sample);
}

Nanoseconds RoundTrip::timeout(const TcpSettings& settings, unsigned backoff) const {
  if (!is_known() && backoff == 0) return settings.initial_timeout;
  const Nanoseconds once =
      is_known() ? smoothed() + std::max(variance() * 4, settings.minimum_timeout) : settings.initial_timeout;
  // Beyond 2^20 it is at its most whatever it was.
  const Nanoseconds doubled(once.count() << std::min(backoff, 20u));
  return std::min(doubled + settings.timeout_slack, settings.maximum_timeout);
}

}  // namespace ingot::os::network
