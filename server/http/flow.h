// Flow: whether bytes go through fast enough, judged once in a while by what went through since.
#pragma once

#include <chrono>
#include <cstdint>

namespace ingot::http {

using Moment = std::chrono::steady_clock::time_point;

inline Moment current_moment() { return std::chrono::steady_clock::now(); }

class Flow {
 public:
  void begin(Moment moment) {
    begin_ = moment;
    bytes_ = 0;
  }
  void add(std::size_t bytes) { bytes_ += bytes; }

  // Never before `grace` has passed. Then all is judged anew: bytes of long ago are no excuse for waiting now.
  bool is_slow(Moment moment, std::chrono::milliseconds grace, std::int64_t least_bytes_a_second) {
    const auto passed = moment - begin_;
    if (passed < grace) return false;
    const double least = std::chrono::duration<double>(passed).count() * static_cast<double>(least_bytes_a_second);
    if (static_cast<double>(bytes_) < least) return true;
    begin(moment);
    return false;
  }

 private:
  Moment begin_;
  std::size_t bytes_ = 0;  // since then
};

}  // namespace ingot::http
