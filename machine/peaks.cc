#include "machine/peaks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "machine/memory.h"
#include "machine/parse.h"
#include "machine/peak_loops.h"
#include "machine/system_files.h"

namespace ingot {
namespace {

using namespace literals;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The median of work / time over repeats: at least five, and more while the time lasts.
template <class Repeat>
double median_rate(double work, Seconds time, Repeat repeat) {
  std::vector<double> rates;
  auto begin = Clock::now();
  while (rates.size() < 5 || (rates.size() < 200 && Clock::now() - begin < time)) {
    auto repeat_begin = Clock::now();
    repeat();
    Seconds elapsed = Clock::now() - repeat_begin;
    rates.push_back(work / std::max(elapsed.count(), 1e-9));
  }
  return median(std::move(rates));
}

double measure_compute(ComputeLoop loop, Workers& workers) {
  // About 50 us a chunk, so that handing out chunks costs nothing, and 16 a thread, so that a thread that is delayed
  // leaves its share to the others.
  constexpr std::int64_t rounds = 10000;
  std::int64_t chunks = 16 * std::int64_t{workers.count()};
  std::atomic<double> sink{0};
  auto repeat = [&] {
    workers.for_chunks(
        chunks, 1, [&](std::int64_t, std::int64_t, int) { sink.store(loop.run(rounds), std::memory_order_relaxed); });
  };
  // Wide units and clocks take a moment to power up, and the scheduler a tick or two to give each thread its own CPU.
  for (auto begin = Clock::now(); Clock::now() - begin < Seconds(0.02);) repeat();
  return median_rate(static_cast<double>(rounds * chunks) * loop.operations_per_round, Seconds(0.06), repeat);
}

double measure_cache_read(const Machine& machine, StreamLoops loops, Workers& workers) {
  std::uint64_t level_one = machine.cache_bytes(1).count();
  if (level_one == 0) level_one = (32_KiB).count();
  // Half of the cache: the other half is the stack's, the pool's and the neighbour's.
  std::size_t bytes = static_cast<std::size_t>(level_one / 2) / stream_block * stream_block;
  constexpr std::int64_t passes = 200;
  std::int64_t chunks = 16 * std::int64_t{workers.count()};
  auto stride = align_up(bytes, 4096);
  Result<Memory> memory = Memory::allocate(Bytes(stride * static_cast<std::uint64_t>(workers.count())));
  if (!memory.ok()) return 0;
  std::atomic<std::uint64_t> sink{0};
  auto repeat = [&] {
    workers.for_chunks(chunks, 1, [&](std::int64_t, std::int64_t, int worker) {
      const std::byte* own = memory.value().data() + stride * static_cast<std::size_t>(worker);
      for (std::int64_t pass = 0; pass < passes; ++pass) sink.store(loops.read(own, bytes), std::memory_order_relaxed);
    });
  };
  // Private copies of untouched pages all map one zero page; writing gives each worker its own.
  loops.write(memory.value().data(), memory.value().size() / stream_block * stream_block);
  repeat();
  return median_rate(static_cast<double>(passes * chunks) * static_cast<double>(bytes), Seconds(0.06), repeat);
}

// The buffer is four times the last-level cache where that is reasonable: at most an eighth of the memory, and at most
// 1 GiB. Where a server's cache is so large that 1 GiB is less than four times it (300 MiB, say), a part of the
// traffic, at most cache / buffer, may hit; such a virtual machine seldom owns the whole cache that it is shown, so
// the error is less, and it errs towards a roof that is too high, never one that kernels exceed.
std::uint64_t stream_buffer_bytes(const Machine& machine) {
  std::uint64_t cache = machine.last_level_cache().count();
  if (cache == 0) cache = (64_MiB).count();
  std::uint64_t bytes = std::min(4 * cache, (1_GiB).count());
  if (machine.memory.count() > 0) bytes = std::min(bytes, machine.memory.count() / 8);
  return std::max(bytes, (8_MiB).count());
}

// Repeats walk through the buffer window by window, and so does the next measurement after them: a window is seen
// again only after all others, when the cache has forgotten it. A repeat is thus short and still cold.
class Stream {
 public:
  static constexpr std::size_t windows = 8;

  Stream(Memory memory, Workers& workers)
      : memory_(std::move(memory)), workers_(workers), window_(memory_.size() / windows / chunk * chunk) {}

  double window_bytes() const { return static_cast<double>(window_); }
  std::byte* next_window() { return memory_.data() + window_ * (turn_++ % windows); }

  template <class Piece>
  void for_pieces(Piece piece) {
    workers_.for_chunks(static_cast<std::int64_t>(window_), chunk, [&](std::int64_t begin, std::int64_t end, int) {
      piece(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    });
  }

 private:
  static constexpr std::int64_t chunk = 256 << 10;

  Memory memory_;
  Workers& workers_;
  std::size_t window_;
  std::size_t turn_ = 0;
};

void measure_memory(Stream& stream, StreamLoops loops, Peaks& peaks) {
  std::atomic<std::uint64_t> sink{0};
  auto write = [&] {
    std::byte* to = stream.next_window();
    stream.for_pieces([&](std::size_t offset, std::size_t bytes) { loops.write(to + offset, bytes); });
  };
  auto read = [&] {
    const std::byte* from = stream.next_window();
    stream.for_pieces([&](std::size_t offset, std::size_t bytes) {
      sink.store(loops.read(from + offset, bytes), std::memory_order_relaxed);
    });
  };
  auto copy = [&] {
    const std::byte* from = stream.next_window();
    std::byte* to = stream.next_window();
    stream.for_pieces([&](std::size_t offset, std::size_t bytes) { loops.copy(from + offset, to + offset, bytes); });
  };
  for (std::size_t window = 0; window < Stream::windows; ++window) write();  // the first touch is the kernel's time
  peaks.write_bytes_per_second = median_rate(stream.window_bytes(), Seconds(0.12), write);
  peaks.read_bytes_per_second = median_rate(stream.window_bytes(), Seconds(0.12), read);
  peaks.copy_bytes_per_second = median_rate(2 * stream.window_bytes(), Seconds(0.12), copy);
}

}  // namespace

Peaks measure_peaks(const Machine& machine, Workers& workers) {
  Peaks peaks;
  peaks.threads = workers.count();
  peaks.load = parse_load(read_text_file("/proc/loadavg").value_or("")).value_or(0);
  peaks.fma_flops = measure_compute(best_fma_loop(machine.features), workers);
  peaks.int8_dot_operations = measure_compute(best_int8_dot_loop(machine.features), workers);
  peaks.int8_matrix_operations = measure_compute(best_int8_matrix_loop(machine.features), workers);
  peaks.bf16_flops = measure_compute(best_bf16_loop(machine.features), workers);
  StreamLoops loops = best_stream_loops(machine.features);
  peaks.cache_read_bytes_per_second = measure_cache_read(machine, loops, workers);
  Result<Memory> buffer = Memory::allocate(Bytes(stream_buffer_bytes(machine)));
  if (buffer.ok()) {
    Stream stream(std::move(buffer).value(), workers);
    measure_memory(stream, loops, peaks);
  }
  return peaks;
}

}  // namespace ingot
