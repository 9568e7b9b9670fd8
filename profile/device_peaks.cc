#include "profile/device_peaks.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "profile/device_clock.h"
#include "profile/device_peaks_cuda.h"
#include "profile/statistics.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(device_peaks_cuda);
INGOT_DEVICE_FUNCTION_OF(device_peaks_cuda, peak_read);
INGOT_DEVICE_FUNCTION_OF(device_peaks_cuda, peak_multiply_adds);
INGOT_DEVICE_FUNCTION_OF(device_peaks_cuda, peak_bf16_matrices);
INGOT_DEVICE_FUNCTION_OF(device_peaks_cuda, peak_int8_matrices);
INGOT_DEVICE_FUNCTION_OF(device_peaks_cuda, peak_nothing);

constexpr std::size_t block_bytes_read = std::size_t{peak_threads} * loads_in_flight * 16;
constexpr int peak_samples = 5;
constexpr double warp_lanes = 32;

// How much is done in a sample: enough to take milliseconds, or, where nobody waits for a figure, little.
struct Amounts {
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;
  std::size_t upload_bytes = 0;
  std::uint32_t blocks = 0;
  std::uint32_t rounds = 0;
  int launches = 0;
};

Amounts amounts_for(const DeviceInformation& device) {
  if (device.is_emulated) return {4 * block_bytes_read, block_bytes_read, 4096, 1, 2, 4};
  const std::size_t level2 = std::max(device.level2_bytes, std::size_t{1} << 20);
  return {.memory_bytes = std::max(std::size_t{1} << 30, 8 * level2) / block_bytes_read * block_bytes_read,
          .cache_bytes = level2 / 4 / block_bytes_read * block_bytes_read,
          .upload_bytes = std::size_t{64} << 20,
          .blocks = static_cast<std::uint32_t>(device.multiprocessors) * 16,
          .rounds = 4096,
          .launches = 1000};
}

class PeakMeasurement {
 public:
  explicit PeakMeasurement(DeviceClock& clock)
      : clock_(clock), queue_(clock.queue()), amounts_(amounts_for(clock.device().information())) {}

  Result<DevicePeaks> measure() {
    sink_ = TRY(clock_.device().allocate(256));
    DevicePeaks peaks;
    peaks.rates.copy_bytes_per_second = TRY(clock_.measure_copies());
    TRY(measure_memory(peaks.rates));
    peaks.rates.fma_flops = TRY(arithmetic(peak_multiply_adds_function, 2));
    peaks.rates.bf16_flops = TRY(arithmetic(peak_bf16_matrices_function, 2 * 16 * 8 * 16 / warp_lanes));
    peaks.rates.f16_flops = peaks.rates.bf16_flops;  // the units are the same
    peaks.rates.int8_matrix_operations = TRY(arithmetic(peak_int8_matrices_function, 2 * 16 * 8 * 32 / warp_lanes));
    peaks.upload_bytes_per_second = TRY(upload());
    peaks.launch_seconds = 1 / TRY(rate(amounts_.launches, [this] {
                             for (int launch = 0; launch < amounts_.launches; ++launch)
                               queue_.launch(peak_nothing_function, {}, PeakNothing{});
                           }));
    return peaks;
  }

 private:
  // So many of something a second.
  template <class Give>
  Result<double> rate(double amount, Give give) {
    const std::unique_ptr<Recording> work = TRY(clock_.record(give));
    TRY(clock_.seconds_of(*work));  // loads the module, wakes the device
    std::vector<double> rates;
    for (int sample = 0; sample < peak_samples; ++sample) {
      rates.push_back(amount / std::max(TRY(clock_.seconds_of(*work)), 1e-9));
    }
    return summarise(rates).median;
  }

  Result<void> measure_memory(Peaks& rates) {
    const DeviceMemory memory = TRY(clock_.device().allocate(amounts_.memory_bytes));
    const auto bytes = static_cast<double>(amounts_.memory_bytes);
    rates.write_bytes_per_second = TRY(rate(bytes, [&] { queue_.fill(memory.data(), 0x5a, amounts_.memory_bytes); }));
    rates.read_bytes_per_second = TRY(rate(bytes, [&] { read(memory, amounts_.memory_bytes); }));
    constexpr int turns = 16;
    rates.cache_read_bytes_per_second = TRY(rate(turns * static_cast<double>(amounts_.cache_bytes), [&] {
      for (int turn = 0; turn < turns; ++turn) read(memory, amounts_.cache_bytes);
    }));
    return {};
  }
  void read(const DeviceMemory& memory, std::size_t bytes) {
    queue_.launch(peak_read_function,
                  {.blocks = static_cast<std::uint32_t>(bytes / block_bytes_read), .threads = peak_threads},
                  PeakRead{memory.data(), reinterpret_cast<std::uint32_t*>(sink_.data())});
  }

  // `operations` are those of a thread in a chain's round.
  Result<double> arithmetic(const DeviceFunction& function, double operations) {
    const double threads = static_cast<double>(amounts_.blocks) * peak_threads;
    // Numbers about 1 in bf16, and codes that are neither small nor alike.
    const PeakArithmetic parameters{.rounds = amounts_.rounds,
                                    .words = {0x3f853f91, 0x3f7d3f8a, 0x3f633f95, 0x3f8e3f71, 0x3f793f83, 0x3f8c3f69},
                                    .sink = reinterpret_cast<float*>(sink_.data())};
    return rate(threads * amounts_.rounds * peak_chains * operations,
                [&] { queue_.launch(function, {.blocks = amounts_.blocks, .threads = peak_threads}, parameters); });
  }

  Result<double> upload() {
    const PinnedMemory from = TRY(clock_.device().allocate_pinned(amounts_.upload_bytes));
    const DeviceMemory to = TRY(clock_.device().allocate(amounts_.upload_bytes));
    std::memset(from.data(), 0x5a, from.size());
    return rate(static_cast<double>(amounts_.upload_bytes),
                [&] { queue_.copy_in(to.data(), from.data(), amounts_.upload_bytes); });
  }

  DeviceClock& clock_;
  Queue& queue_;
  Amounts amounts_;
  DeviceMemory sink_;
};

}  // namespace

Result<DevicePeaks> measure_device_peaks(Device& device, Queue& queue) {
  DeviceClock clock = TRY(DeviceClock::create(device, queue));
  return PeakMeasurement(clock).measure();
}

}  // namespace ingot
