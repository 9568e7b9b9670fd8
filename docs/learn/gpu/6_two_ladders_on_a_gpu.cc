// Climbs the two ladders of docs/learn/gpu.md: every rung is proved, and timed where there is a GPU.
//
//   learn_6_two_ladders_on_a_gpu           on a GPU that the CPU plays: proves alone
//   learn_6_two_ladders_on_a_gpu cuda      on the first GPU
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "docs/learn/gpu/rungs.h"
#include "machine/gpu/device.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(norm_rungs_cuda);
INGOT_DEVICE_FUNCTION_OF(norm_rungs_cuda, norm_thread_a_row);
INGOT_DEVICE_FUNCTION_OF(norm_rungs_cuda, norm_warp_a_row);
INGOT_DEVICE_FUNCTION_OF(norm_rungs_cuda, norm_warp_by_fours);
INGOT_DEVICE_FUNCTION_OF(norm_rungs_cuda, norm_block_keeps_a_row);
INGOT_DEVICE_MODULE(gemv_rungs_cuda);
INGOT_DEVICE_FUNCTION_OF(gemv_rungs_cuda, gemv_thread_a_row);
INGOT_DEVICE_FUNCTION_OF(gemv_rungs_cuda, gemv_warp_a_row);
INGOT_DEVICE_FUNCTION_OF(gemv_rungs_cuda, gemv_warp_by_eights);
INGOT_DEVICE_FUNCTION_OF(gemv_rungs_cuda, gemv_warp_in_flight);
INGOT_DEVICE_FUNCTION_OF(gemv_rungs_cuda, gemv_warp_two_rows);
INGOT_DEVICE_FUNCTION_OF(gemv_rungs_cuda, gemv_block_two_rows);

constexpr std::size_t beyond_caches = std::size_t{512} << 20;  // what launches go through before they come back

struct Rung {
  const DeviceFunction& function;
  std::uint32_t rows_per_block;
};

const std::array<Rung, 4> norm_rungs = {{{norm_thread_a_row_function, rung_threads},
                                         {norm_warp_a_row_function, rung_threads / 32},
                                         {norm_warp_by_fours_function, rung_threads / 32},
                                         {norm_block_keeps_a_row_function, 1}}};
const std::array<Rung, 6> gemv_rungs = {{{gemv_thread_a_row_function, rung_threads},
                                         {gemv_warp_a_row_function, rung_threads / 32},
                                         {gemv_warp_by_eights_function, rung_threads / 32},
                                         {gemv_warp_in_flight_function, rung_threads / 32},
                                         {gemv_warp_two_rows_function, rung_threads / 16},
                                         {gemv_block_two_rows_function, 2}}};

struct Place {
  Device& device;
  Queue& queue;
  bool is_timed;
  double copy_rate = 0;  // bytes a second, read and written
};

template <class Element>
std::vector<Element> random_elements(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<Element> elements(count);
  for (Element& element : elements) {
    element = Element(static_cast<float>(generator() >> 8) * 0x1p-23F - 1);  // -1 to 1
  }
  return elements;
}

template <class Element>
Result<DeviceMemory> sent(const Place& place, const std::vector<Element>& elements, std::size_t copies = 1) {
  const std::size_t bytes = elements.size() * sizeof(Element);
  DeviceMemory memory = TRY(place.device.allocate(bytes * copies));
  for (std::size_t copy = 0; copy < copies; ++copy) {
    place.queue.copy_in(memory.data() + copy * bytes, reinterpret_cast<const std::byte*>(elements.data()), bytes);
  }
  TRY(place.queue.wait());
  return memory;
}

// Seconds of one call of `work(turn)`: the median of some rounds of so many that a round takes long enough.
template <class Work>
Result<double> seconds_of(const Place& place, const Work& work) {
  const auto round = [&](int turns) -> Result<double> {
    const auto begin = std::chrono::steady_clock::now();
    for (int turn = 0; turn < turns; ++turn) work(static_cast<std::size_t>(turn));
    TRY(place.queue.wait());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  TRY(round(1));
  const int turns = std::clamp(static_cast<int>(0.02 / TRY(round(1))), 4, 2000);
  std::array<double, 7> seconds = {};
  for (double& each : seconds) each = TRY(round(turns)) / turns;
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

Result<void> measure_copy(Place& place) {
  const DeviceMemory memory = TRY(place.device.allocate(beyond_caches));
  const std::size_t half = beyond_caches / 2;
  const double seconds =
      TRY(seconds_of(place, [&](std::size_t) { place.queue.copy_within(memory.data() + half, memory.data(), half); }));
  place.copy_rate = static_cast<double>(beyond_caches) / seconds;
  std::printf("a copy runs at %.2f TB/s, read and written\n", place.copy_rate / 1e12);
  return {};
}

Result<void> require_near(const Place& place, const Rung& rung, const DeviceMemory& y, std::span<const double> expected,
                          double tolerance) {
  std::vector<float> found(expected.size());
  place.queue.copy_out(reinterpret_cast<std::byte*>(found.data()), y.data(), found.size() * sizeof(float));
  TRY(place.queue.wait());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::abs(found[i] - expected[i]) <= tolerance) continue;
    return Error::of(ErrorCode::corrupt, rung.function.name, ": expected ",
                     static_cast<std::int64_t>(expected[i] * 1e6), " millionths at ", i, ", found ",
                     static_cast<std::int64_t>(found[i] * 1e6));
  }
  return {};
}

// Launches each rung, proves it, and tells its time beside that of the rung before.
template <class Parameters, std::size_t count>
Result<void> climb(const Place& place, const std::array<Rung, count>& rungs, double bytes, const DeviceMemory& y,
                   std::span<const double> expected, double tolerance, const std::vector<Parameters>& turns) {
  double before = 0;
  for (const Rung& rung : rungs) {
    const Parameters& first = turns.front();
    const LaunchShape shape = {.blocks = (first.rows + rung.rows_per_block - 1) / rung.rows_per_block,
                               .threads = rung_threads};
    place.queue.name_step(rung.function.name);
    place.queue.fill(y.data(), 0xff, expected.size() * sizeof(float));  // NaN
    place.queue.launch(rung.function, shape, first);
    TRY(require_near(place, rung, y, expected, tolerance));
    if (!place.is_timed) {
      std::printf("true:  %s computes what the equation says\n", rung.function.name);
      continue;
    }
    const double seconds = TRY(seconds_of(
        place, [&](std::size_t turn) { place.queue.launch(rung.function, shape, turns[turn % turns.size()]); }));
    std::printf("%-24s %9.1f us %6.2f TB/s %5.1f %% of the copy", rung.function.name, seconds * 1e6,
                bytes / seconds / 1e12, 100 * bytes / seconds / place.copy_rate);
    std::printf(before > 0 ? "  %5.2f x\n" : "\n", before / seconds);
    before = seconds;
  }
  return {};
}

Result<void> climb_norm(const Place& place, std::uint32_t rows, std::uint32_t length) {
  std::printf("\nrms norm of %u rows of %u floats\n", rows, length);
  const std::vector<float> x = random_elements<float>(std::size_t{rows} * length, 1);
  const std::vector<float> gamma = random_elements<float>(length, 2);
  constexpr float epsilon = 1e-5F;
  std::vector<double> expected(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (std::size_t i = 0; i < length; ++i) squares += double{x[row * length + i]} * x[row * length + i];
    const double scale = 1 / std::sqrt(squares / length + epsilon);
    for (std::size_t i = 0; i < length; ++i) expected[row * length + i] = gamma[i] * x[row * length + i] * scale;
  }
  const DeviceMemory x_there = TRY(sent(place, x));
  const DeviceMemory gamma_there = TRY(sent(place, gamma));
  const DeviceMemory y = TRY(place.device.allocate(x.size() * sizeof(float)));
  const std::vector<NormRung> turns = {{.x = reinterpret_cast<const float*>(x_there.data()),
                                        .gamma = reinterpret_cast<const float*>(gamma_there.data()),
                                        .y = reinterpret_cast<float*>(y.data()),
                                        .rows = rows,
                                        .length = length,
                                        .epsilon = epsilon}};
  // A sum of squares of n floats in one chain is off by n epsilons at most, its root by half of that.
  const double tolerance = 2 * 0x1p-24 * length;
  return climb(place, norm_rungs, 2.0 * static_cast<double>(x.size()) * sizeof(float), y, expected, tolerance, turns);
}

Result<void> climb_gemv(const Place& place, std::uint32_t rows, std::uint32_t depth) {
  std::printf("\none row times weights of %u x %u in f16\n", rows, depth);
  const std::vector<Half> weights = random_elements<Half>(std::size_t{rows} * depth, 3);
  const std::vector<float> x = random_elements<float>(depth, 4);
  std::vector<double> expected(rows);
  double largest = 0;  // of the sums of magnitudes
  for (std::size_t row = 0; row < rows; ++row) {
    double magnitude = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      const double product = double{static_cast<float>(weights[row * depth + k])} * x[k];
      expected[row] += product;
      magnitude += std::abs(product);
    }
    largest = std::max(largest, magnitude);
  }
  const std::size_t bytes = weights.size() * sizeof(Half);
  const std::size_t copies = place.is_timed ? std::max<std::size_t>(beyond_caches / bytes, 1) : 1;
  const DeviceMemory weights_there = TRY(sent(place, weights, copies));
  const DeviceMemory x_there = TRY(sent(place, x));
  const DeviceMemory y = TRY(place.device.allocate(rows * sizeof(float)));
  std::vector<GemvRung> turns;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    turns.push_back({.weights = reinterpret_cast<const Half*>(weights_there.data() + copy * bytes),
                     .x = reinterpret_cast<const float*>(x_there.data()),
                     .y = reinterpret_cast<float*>(y.data()),
                     .rows = rows,
                     .depth = depth});
  }
  return climb(place, gemv_rungs, static_cast<double>(bytes), y, expected, 0x1p-24 * depth * largest, turns);
}

Result<void> climb_all(std::string_view name) {
  const std::unique_ptr<Device> device = TRY(open_device(name));
  const std::unique_ptr<Queue> queue = TRY(device->make_queue());
  Place place = {.device = *device, .queue = *queue, .is_timed = !device->information().is_emulated};
  std::printf("%s\n", device->information().name.c_str());
  if (!place.is_timed) {
    TRY(climb_norm(place, 67, 1028));
    return climb_gemv(place, 10, gemv_step);
  }
  TRY(measure_copy(place));
  TRY(climb_norm(place, 16384, 4096));
  TRY(climb_gemv(place, 28672, 8192));
  return climb_gemv(place, 2048, 8192);
}

}  // namespace
}  // namespace ingot

int main(int argument_count, char** arguments) {
  const ingot::Result<void> climbed = ingot::climb_all(argument_count > 1 ? arguments[1] : "emulated");
  if (climbed.ok()) return 0;
  std::fprintf(stderr, "%.*s\n", static_cast<int>(climbed.error().text().size()), climbed.error().text().data());
  return 1;
}
