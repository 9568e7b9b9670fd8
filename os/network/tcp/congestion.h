// Congestion: how much may be under way. Slow start and avoidance by CUBIC (RFC 9438) or Reno (RFC 5681), in integers;
// when to reduce it is the connection's to say.
#pragma once

#include <cstdint>

#include "os/network/tcp/settings.h"

namespace ingot::os::network {

class Congestion {
 public:
  static constexpr std::uint32_t most = 1 << 30;

  // RFC 6928, or a single segment where the SYN was lost.
  void begin(CongestionControl control, std::uint32_t window, std::uint32_t segment_bytes);
  void choose(CongestionControl control) { control_ = control; }
  void set_segment_bytes(std::uint32_t bytes) { segment_bytes_ = bytes; }

  CongestionControl control() const { return control_; }
  std::uint32_t window() const { return window_; }
  std::uint32_t threshold() const { return threshold_; }
  bool is_in_slow_start() const { return window_ < threshold_; }

  // New data are acknowledged, outside of recovery, by a peer that the window held back.
  void acknowledged(std::uint32_t bytes, Nanoseconds now, Nanoseconds round_trip);
  // A loss: the threshold falls; the window is the caller's, who knows what is under way.
  void reduce(std::uint32_t in_flight);
  void set_window(std::uint32_t bytes);
  // It was no loss.
  void restore(std::uint32_t window, std::uint32_t threshold);
  // Nothing was sent for a while (RFC 2861): the window decays, and its epoch does not count the pause.
  void idle(Nanoseconds pause, Nanoseconds timeout, std::uint32_t restart_window);

 private:
  std::uint32_t cubic_target(Nanoseconds now, Nanoseconds round_trip);

  std::uint32_t window_ = 0, threshold_ = most;
  std::uint32_t segment_bytes_ = 536;
  std::uint32_t most_window_ = 0;  // W_max: where the last loss was
  std::uint32_t estimate_ = 0;     // W_est: what Reno would have
  std::uint32_t acked_ = 0;        // bytes that have not made Reno's window grow yet
  std::uint32_t rise_ = 0;         // K in milliseconds: until W_max is reached
  std::uint32_t epoch_ = 0;        // milliseconds; 0: avoidance has not begun since the last loss
  CongestionControl control_ = CongestionControl::cubic;
};

}  // namespace ingot::os::network
