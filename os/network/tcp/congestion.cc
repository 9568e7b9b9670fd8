#include "os/network/tcp/congestion.h"

#include <algorithm>

#include "os/network/tcp/host.h"

namespace ingot::os::network {

namespace {

// The largest number whose cube is not above, bit by bit from the top.
std::uint32_t cube_root(std::uint64_t number) {
  std::uint64_t root = 0;
  for (int bit = 20; bit >= 0; --bit) {
    const std::uint64_t more = root | std::uint64_t{1} << bit;
    if (more * more * more <= number) root = more;
  }
  return static_cast<std::uint32_t>(root);
}

}  // namespace

void Congestion::begin(CongestionControl control, std::uint32_t window, std::uint32_t segment_bytes) {
  control_ = control;
  segment_bytes_ = segment_bytes;
  set_window(window);
}

void Congestion::set_window(std::uint32_t bytes) { window_ = std::clamp(bytes, segment_bytes_, most); }

void Congestion::acknowledged(std::uint32_t bytes, Nanoseconds now, Nanoseconds round_trip) {
  if (is_in_slow_start()) {
    const std::uint32_t growth = std::min(bytes, threshold_ - window_);
    set_window(window_ + growth);
    bytes -= growth;
    if (bytes == 0) return;
  }
  acked_ += bytes;
  if (control_ == CongestionControl::reno) {
    if (acked_ < window_) return;
    acked_ -= window_;
    set_window(window_ + segment_bytes_);
    return;
  }
  const std::uint32_t target = cubic_target(now, round_trip);
  const std::uint64_t growth = std::uint64_t{bytes} * (target - window_) / window_;
  // Reno's rise with CUBIC's gentler fall: 3 (1 - 0.7) / (1 + 0.7) segments each round, one from W_max on.
  const std::uint64_t step = estimate_ < most_window_ ? std::uint64_t{window_} * 17 / 9 : window_;
  if (acked_ >= step) {
    acked_ -= static_cast<std::uint32_t>(step);
    estimate_ = std::min(estimate_ + segment_bytes_, most);
  }
  set_window(std::max(window_ + static_cast<std::uint32_t>(growth), estimate_));
}

// W_cubic of the next round, as RFC 9438 4.2 has it with C = 0.4, between the window and half as much again.
std::uint32_t Congestion::cubic_target(Nanoseconds now, Nanoseconds round_trip) {
  const std::uint32_t clock = std::max(timestamp_clock(now), 1u);
  if (epoch_ == 0) {
    epoch_ = clock;
    estimate_ = window_;
    acked_ = 0;
    most_window_ = std::max(most_window_, window_);
    const std::uint64_t segments_1000 = std::uint64_t{most_window_ - window_} * 1000 / segment_bytes_;
    rise_ = cube_root(segments_1000 * 2'500'000);
  }
  const std::uint32_t elapsed = std::min(clock - epoch_ + timestamp_clock(round_trip), 500'000u);
  const std::uint64_t distance = std::min(elapsed < rise_ ? rise_ - elapsed : elapsed - rise_, 500'000u);
  const std::uint64_t segments_1000 = distance * distance * distance * 4 / 10'000'000;
  const std::uint64_t bytes = segments_1000 * segment_bytes_ / 1000;
  const std::uint64_t target =
      elapsed >= rise_ ? most_window_ + bytes : most_window_ - std::min<std::uint64_t>(bytes, most_window_);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(target, window_, window_ + window_ / 2));
}

void Congestion::reduce(std::uint32_t in_flight) {
  // RFC 5681's flight, or RFC 9438's window: it grows by use alone, so that it stands for what was.
  const std::uint32_t used = control_ == CongestionControl::cubic ? window_ : std::min(window_, in_flight);
  // Fast convergence: a window that does not get as far as last time leaves room to whom it was taken by.
  most_window_ = used < most_window_ ? used / 20 * 17 : used;
  epoch_ = 0;
  const std::uint64_t left = control_ == CongestionControl::cubic ? std::uint64_t{used} * 7 / 10 : used / 2;
  threshold_ = std::max(static_cast<std::uint32_t>(left), 2 * segment_bytes_);
}

void Congestion::restore(std::uint32_t window, std::uint32_t threshold) {
  set_window(std::max(window, window_));
  threshold_ = threshold;
  epoch_ = 0;
}

void Congestion::idle(Nanoseconds pause, Nanoseconds timeout, std::uint32_t restart_window) {
  threshold_ = std::max(threshold_, window_ / 4 * 3);
  std::uint32_t window = window_;
  for (; pause > timeout && window > restart_window; pause = pause - timeout) window /= 2;
  if (window < window_) set_window(std::max(window, std::min(restart_window, window_)));
  epoch_ = 0;
}

}  // namespace ingot::os::network
