// Memory, copies, launches, recordings, address ranges and a fault on a real GPU. Exits 77 where there is none.
//
//   gpu_smoke            proves, and prints what a launch costs
//   gpu_smoke --fault    also makes the device fail, which a debugger's tools take for a mistake
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "machine/gpu/cuda/address_range.h"
#include "machine/gpu/cuda/cuda_queue.h"
#include "machine/gpu/cuda/device_list.h"
#include "tests/gpu/copy_words_cuda.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(copy_words_cuda);
INGOT_DEVICE_FUNCTION_OF(copy_words_cuda, copy_words);
INGOT_DEVICE_FUNCTION_OF(copy_words_cuda, copy_shared_words);
INGOT_DEVICE_FUNCTION_OF(copy_words_cuda, write_nowhere);

constexpr int skipped = 77;
constexpr std::uint32_t word_count = 100'003;
constexpr std::size_t word_bytes = word_count * sizeof(std::uint32_t);
constexpr LaunchShape shape{.blocks = (word_count + 255) / 256, .threads = 256};

Result<void> expect(bool holds, std::string_view what) {
  if (holds) return {};
  return Error::of(ErrorCode::corrupt, "expected ", what, ", found otherwise");
}

std::vector<std::uint32_t> counted_words(std::uint32_t first) {
  std::vector<std::uint32_t> words(word_count);
  std::iota(words.begin(), words.end(), first);
  return words;
}

std::byte* bytes_of(std::vector<std::uint32_t>& words) { return reinterpret_cast<std::byte*>(words.data()); }

CopyWords parameters_of(std::byte* from, std::byte* to, std::uint32_t add) {
  return {.from = reinterpret_cast<std::uint32_t*>(from),
          .to = reinterpret_cast<std::uint32_t*>(to),
          .count = word_count,
          .add = add};
}

struct Bench {
  CudaDevice& device;
  CudaQueue& queue;
  std::byte* from;
  std::byte* to;
};

Result<void> expect_words(Bench& bench, std::byte* device, std::uint32_t first, std::string_view what) {
  std::vector<std::uint32_t> found(word_count);
  bench.queue.copy_out(bytes_of(found), device, word_bytes);
  TRY(bench.queue.wait());
  return expect(found == counted_words(first), what);
}

Result<void> prove_copies_and_launches(Bench& bench) {
  std::vector<std::uint32_t> words = counted_words(0);
  bench.queue.name_step("copies");
  bench.queue.copy_in(bench.from, bytes_of(words), word_bytes);
  bench.queue.fill(bench.to, 0xab, word_bytes);
  bench.queue.launch(copy_words_function, shape, parameters_of(bench.from, bench.to, 5));
  TRY(expect_words(bench, bench.to, 5, "words plus 5 of copy_words"));
  // More than the 48 KiB that a block has unasked.
  LaunchShape large = shape;
  large.shared_bytes = 96 << 10;
  bench.queue.launch(copy_shared_words_function, large, parameters_of(bench.from, bench.to, 6));
  TRY(expect_words(bench, bench.to, 6, "words plus 6 by way of 96 KiB of shared memory"));
  bench.queue.copy_within(bench.from, bench.to, word_bytes);
  return expect_words(bench, bench.from, 6, "words that were copied within the device");
}

Result<void> prove_recordings(Bench& bench) {
  PinnedMemory pinned = TRY(bench.device.allocate_pinned(word_bytes));
  TRY(bench.queue.begin_recording());
  bench.queue.copy_in(bench.from, pinned.data(), word_bytes);
  bench.queue.launch(copy_words_function, shape, parameters_of(bench.from, bench.to, 1));
  bench.queue.launch(copy_words_function, shape, parameters_of(bench.to, bench.from, 1));
  const std::unique_ptr<Recording> recording = TRY(bench.queue.end_recording());
  for (std::uint32_t first : {10U, 1000U}) {  // it reads its inputs when it is done
    std::vector<std::uint32_t> words = counted_words(first);
    std::memcpy(pinned.data(), words.data(), word_bytes);
    bench.queue.replay(*recording);
    TRY(expect_words(bench, bench.from, first + 2, "what the recording's inputs become"));
  }
  return {};
}

Result<void> prove_address_range(Bench& bench) {
  const auto reserved = TRY(CudaAddressRange::reserve(bench.device, std::size_t{1} << 36));
  CudaAddressRange& range = *reserved;
  TRY(range.grow_to(word_bytes));
  std::byte* const data = range.data();
  std::vector<std::uint32_t> words = counted_words(3);
  bench.queue.copy_in(data, bytes_of(words), word_bytes);
  TRY(bench.queue.wait());
  TRY(range.grow_to(range.granule() * 3 + 1));
  TRY(expect(range.data() == data && range.size() == range.granule() * 4, "a range that grew in its place"));
  bench.queue.launch(copy_words_function, shape, parameters_of(data, data + range.granule() * 3, 1));
  TRY(expect_words(bench, data, 3, "words that stayed where they were"));
  return expect_words(bench, data + range.granule() * 3, 4, "words in what was added");
}

// Time of a launch after a launch, alone and in a recording.
Result<void> measure_launches(Bench& bench) {
  constexpr int launches = 2000;
  const std::unique_ptr<Mark> begin = TRY(bench.queue.make_mark());
  const std::unique_ptr<Mark> end = TRY(bench.queue.make_mark());
  const LaunchShape small{.blocks = 1, .threads = 32};
  CopyWords parameters = parameters_of(bench.from, bench.to, 0);
  parameters.count = 32;
  const auto give_all = [&] {
    for (int count = 0; count < launches; ++count) bench.queue.launch(copy_words_function, small, parameters);
  };
  give_all();
  TRY(bench.queue.wait());
  const auto host_begin = std::chrono::steady_clock::now();
  TRY(begin->place());
  give_all();
  TRY(end->place());
  const std::chrono::duration<double> host = std::chrono::steady_clock::now() - host_begin;
  const double alone = TRY(end->seconds_since(*begin));
  TRY(bench.queue.begin_recording());
  give_all();
  const std::unique_ptr<Recording> recording = TRY(bench.queue.end_recording());
  bench.queue.replay(*recording);
  TRY(begin->place());
  bench.queue.replay(*recording);
  TRY(end->place());
  const double captured = TRY(end->seconds_since(*begin));
  std::printf("launches: %.2f us each (host %.2f us), recorded %.2f us\n", alone / launches * 1e6,
              host.count() / launches * 1e6, captured / launches * 1e6);
  return bench.queue.wait();
}

// The step, the function and its shape are named, and so they are by whoever asks again.
Result<void> prove_fault(Bench& bench) {
  bench.queue.name_step("a step that fails");
  bench.queue.launch(write_nowhere_function, {.blocks = 2}, parameters_of(nullptr, nullptr, 0));
  const Result<void> first = bench.queue.wait();
  TRY(expect(!first.ok(), "a device that failed"));
  std::printf("a fault is told as: %.*s\n", static_cast<int>(first.error().text().size()), first.error().text().data());
  const std::string_view text = first.error().text();
  TRY(expect(text.find("a step that fails") != text.npos && text.find("write_nowhere") != text.npos,
             "the step and the function in the text of a fault"));
  TRY(expect(!bench.queue.wait().ok(), "a queue that stays failed"));
  return expect(!bench.device.make_queue().ok() || !bench.device.allocate(16).ok(), "a device that stays failed");
}

Result<void> run(const cuda::Driver& driver, bool with_fault) {
  const std::unique_ptr<CudaDevice> device = TRY(CudaDevice::create(driver, 0));
  std::printf("%s, %s\n", device->information().name.c_str(), device->information().uuid.c_str());
  const std::unique_ptr<CudaQueue> queue = TRY(CudaQueue::create(*device, Pace::free));
  const DeviceMemory from = TRY(device->allocate(word_bytes));
  const DeviceMemory to = TRY(device->allocate(word_bytes));
  Bench bench{*device, *queue, from.data(), to.data()};
  TRY(prove_copies_and_launches(bench));
  TRY(prove_recordings(bench));
  TRY(prove_address_range(bench));
  const auto state = TRY(device->memory_state());
  const auto too_much = device->allocate(state.total_bytes * 2);
  TRY(expect(!too_much.ok(), "an error for more memory than there is"));
  std::printf("too much memory is told as: %.*s\n", static_cast<int>(too_much.error().text().size()),
              too_much.error().text().data());
  TRY(device->disturb(1));
  TRY(prove_copies_and_launches(bench));
  TRY(device->disturb(0));
  TRY(measure_launches(bench));
  return with_fault ? prove_fault(bench) : Result<void>();
}

}  // namespace
}  // namespace ingot

int main(int argument_count, char** arguments) {
  const bool with_fault = argument_count == 2 && std::strcmp(arguments[1], "--fault") == 0;
  const auto driver = ingot::cuda::load_driver();
  const auto count = driver.ok() ? ingot::count_cuda_devices(driver.value()) : ingot::Result<int>(driver.error());
  if (!count.ok()) {
    std::printf("SKIPPED: %.*s\n", static_cast<int>(count.error().text().size()), count.error().text().data());
    return ingot::skipped;
  }
  const ingot::Result<void> result = ingot::run(driver.value(), with_fault);
  if (result.ok()) return 0;
  std::fprintf(stderr, "gpu_smoke: %.*s\n", static_cast<int>(result.error().text().size()),
               result.error().text().data());
  return 1;
}
