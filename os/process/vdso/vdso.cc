// The object that every program finds in its memory (AT_SYSINFO_EHDR): functions that answer in ring 3 what would be
// system calls (man 7 vdso). It is linked by itself, to stand right behind the TimePage, wherever that is.
#include <cstddef>
#include <cstdint>

#include "os/process/vdso/time_page.h"

using ingot::os::TimePage;

extern "C" [[gnu::visibility("hidden")]] const TimePage ingot_time_page;  // placed by vdso.ld

namespace {

struct Seconds {
  std::int64_t seconds, parts;
};
constexpr std::int64_t nanoseconds_in_second = 1'000'000'000;
constexpr long gettimeofday_number = 96, time_number = 201, clock_gettime_number = 228, clock_getres_number = 229,
               getcpu_number = 309;

// Assembly: no library stands behind this object.
long call_kernel(long number, std::uint64_t first, std::uint64_t second, std::uint64_t third = 0) {
  long answer = number;
  asm volatile("syscall" : "+a"(answer) : "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
  return answer;
}
std::uint64_t word_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// As MonotonicClock has it.
std::int64_t nanoseconds_since_start() {
  __extension__ using Wide = unsigned __int128;
  __builtin_ia32_lfence();  // the counter is not read before what stands above
  const std::uint64_t cycles = __builtin_ia32_rdtsc() - ingot_time_page.start_cycles;
  return static_cast<std::int64_t>((static_cast<Wide>(cycles) * ingot_time_page.nanoseconds_times_2_to_32) >> 32);
}
std::int64_t nanoseconds_since_1970() { return ingot_time_page.wall_time_at_start + nanoseconds_since_start(); }

Seconds seconds_of(std::int64_t nanoseconds) {
  const auto positive = static_cast<std::uint64_t>(nanoseconds);
  return {static_cast<std::int64_t>(positive / nanoseconds_in_second),
          static_cast<std::int64_t>(positive % nanoseconds_in_second)};
}

// Of linux/time.h: clocks that a program can read without the kernel.
constexpr std::uint32_t wall_clocks = 1 << 0 | 1 << 5, monotonic_clocks = 1 << 1 | 1 << 4 | 1 << 6 | 1 << 7;
bool is_in(int clock, std::uint32_t clocks) { return clock >= 0 && clock < 32 && (clocks >> clock & 1) != 0; }

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int __vdso_clock_gettime(int clock, Seconds* place) {
  if (ingot_time_page.counter_is_shared != 0) {
    if (is_in(clock, monotonic_clocks)) {
      *place = seconds_of(nanoseconds_since_start());
      return 0;
    }
    if (is_in(clock, wall_clocks)) {
      *place = seconds_of(nanoseconds_since_1970());
      return 0;
    }
  }
  return static_cast<int>(call_kernel(clock_gettime_number, static_cast<std::uint64_t>(clock), word_of(place)));
}

[[gnu::visibility("default")]] int __vdso_clock_getres(int clock, Seconds* place) {
  if (!is_in(clock, monotonic_clocks | wall_clocks)) {
    return static_cast<int>(call_kernel(clock_getres_number, static_cast<std::uint64_t>(clock), word_of(place)));
  }
  if (place != nullptr) *place = {0, 1};
  return 0;
}

[[gnu::visibility("default")]] int __vdso_gettimeofday(Seconds* place, std::uint64_t* zone) {
  if (ingot_time_page.counter_is_shared == 0) {
    return static_cast<int>(call_kernel(gettimeofday_number, word_of(place), word_of(zone)));
  }
  if (place != nullptr) {
    *place = seconds_of(nanoseconds_since_1970());
    place->parts /= 1000;
  }
  if (zone != nullptr) *zone = 0;  // universal time, no daylight saving
  return 0;
}

[[gnu::visibility("default")]] std::int64_t __vdso_time(std::int64_t* place) {
  if (ingot_time_page.counter_is_shared == 0) return call_kernel(time_number, word_of(place), 0);
  const std::int64_t seconds = seconds_of(nanoseconds_since_1970()).seconds;
  if (place != nullptr) *place = seconds;
  return seconds;
}

[[gnu::visibility("default")]] int __vdso_getcpu(std::uint32_t* processor, std::uint32_t* node, void*) {
  if (ingot_time_page.tells_processor == 0) {
    return static_cast<int>(call_kernel(getcpu_number, word_of(processor), word_of(node)));
  }
  std::uint32_t number = 0;
  __builtin_ia32_rdtscp(&number);
  if (processor != nullptr) *processor = number;
  if (node != nullptr) *node = 0;
  return 0;
}
}
