#include "profile/device_clock.h"

#include <algorithm>
#include <vector>

#include "profile/statistics.h"

namespace ingot {
namespace {

constexpr std::size_t filled_bytes = std::size_t{64} << 20;
constexpr int fills_at_once = 4;
constexpr std::size_t least_copy_bytes = std::size_t{256} << 20;  // or eight times the second-level cache
constexpr std::size_t emulated_copy_bytes = std::size_t{1} << 20;
constexpr int copies_a_sample = 8;
constexpr int copy_samples = 9;

}  // namespace

Result<DeviceClock> DeviceClock::create(Device& device, Queue& queue) {
  DeviceClock clock(device, queue);
  clock.begin_ = TRY(queue.make_mark());
  clock.end_ = TRY(queue.make_mark());
  return clock;
}

Result<std::unique_ptr<Recording>> DeviceClock::record(const std::function<void()>& give) {
  TRY(queue_->begin_recording());
  give();
  return queue_->end_recording();
}

Result<double> DeviceClock::seconds_of(const Recording& recording) {
  TRY(begin_->place());
  queue_->replay(recording);
  TRY(end_->place());
  TRY(queue_->wait());
  return end_->seconds_since(*begin_);
}

Result<void> DeviceClock::hold(double seconds) {
  if (device_->information().is_emulated) return {};
  if (fills_ == nullptr) {
    filled_ = TRY(device_->allocate(filled_bytes));
    fills_ = TRY(record([this] {
      for (int fill = 0; fill < fills_at_once; ++fill) queue_->fill(filled_.data(), 0, filled_bytes);
    }));
    TRY(seconds_of(*fills_));
    fills_seconds_ = std::max(TRY(seconds_of(*fills_)), 1e-6);
  }
  for (double held = 0; held < seconds; held += fills_seconds_) queue_->replay(*fills_);
  return {};
}

Result<double> DeviceClock::measure_copies() {
  const DeviceInformation& information = device_->information();
  const std::size_t bytes =
      information.is_emulated ? emulated_copy_bytes : std::max(least_copy_bytes, 8 * information.level2_bytes);
  const DeviceMemory from = TRY(device_->allocate(bytes));
  const DeviceMemory to = TRY(device_->allocate(bytes));
  queue_->fill(from.data(), 0x5a, bytes);
  const std::unique_ptr<Recording> copies = TRY(record([&] {
    for (int copy = 0; copy < copies_a_sample; ++copy) queue_->copy_within(to.data(), from.data(), bytes);
  }));
  TRY(seconds_of(*copies));  // wakes the device
  std::vector<double> rates;
  for (int sample = 0; sample < copy_samples; ++sample) {
    const double seconds = TRY(seconds_of(*copies));
    rates.push_back(2.0 * copies_a_sample * static_cast<double>(bytes) / std::max(seconds, 1e-9));
  }
  return summarise(rates).median;
}

}  // namespace ingot
