// What a program pays for the kernel's commonest services, in cycles of the counter: bench/os_micro boots it where a
// cycle is an instruction, and reads the lines.
//
// program-test: expect micro: system call
// program-test: expect micro: half a futex ping-pong
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::size_t rounds = 201;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("micro: expected %s\n", what);
  std::exit(1);
}

// The median of what `step` takes, without the taking of time.
template <class Step>
std::uint64_t cost_of(Step&& step) {
  static std::uint64_t samples[rounds];
  for (std::uint64_t& sample : samples) {
    const std::uint64_t begin = __rdtsc();
    step();
    const std::uint64_t end = __rdtsc();
    sample = end - begin - (__rdtsc() - end);
  }
  std::sort(std::begin(samples), std::end(samples));
  return samples[rounds / 2];
}

void report(const char* what, std::uint64_t count) {
  std::printf("micro: %s %lu\n", what, static_cast<unsigned long>(count));
}

// No library between, which would keep an answer or ask several times.
long call(long number) {
  long answer = 0;
  asm volatile("syscall" : "=a"(answer) : "a"(number) : "rcx", "r11", "memory");
  return answer;
}

// Of a thread that has its CPU for itself: nothing interrupts it, no tick and no other thread. A Linux that ticks 250
// times a second would do so seven times meanwhile.
std::uint64_t longest_pause() {
  constexpr std::uint64_t cycles = 30'000'000;
  const std::uint64_t begin = __rdtsc();
  std::uint64_t longest = 0;
  for (std::uint64_t last = begin; last < begin + cycles;) {
    const std::uint64_t now = __rdtsc();
    longest = std::max(longest, now - last);
    last = now;
  }
  return longest;
}

void* do_nothing(void*) { return nullptr; }

void create_and_join() {
  pthread_t thread;
  expect(pthread_create(&thread, nullptr, do_nothing, nullptr) == 0, "a thread");
  expect(pthread_join(thread, nullptr) == 0, "its end");
}

void pin_to_first_cpu() {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  expect(sched_setaffinity(0, sizeof first, &first) == 0, "to be pinned");
}

// Each waits for its own word, and blocks at once where it is not set yet.
struct Side {
  alignas(64) std::atomic<std::uint32_t> turn{0};

  void wait() {
    while (turn.load() == 0) syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    turn.store(0);
  }
  void give() {
    turn.store(1);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
};
Side ping, pong;

void* answer_pings(void*) {
  pin_to_first_cpu();
  for (std::size_t i = 0; i < rounds; ++i) {
    ping.wait();
    pong.give();
  }
  return nullptr;
}

std::uint64_t half_ping_pong() {
  pin_to_first_cpu();
  pthread_t other;
  expect(pthread_create(&other, nullptr, answer_pings, nullptr) == 0, "a thread");
  const std::uint64_t both = cost_of([] {
    ping.give();
    pong.wait();
  });
  pthread_join(other, nullptr);
  return both / 2;
}

// Where 20,000 are already. Neighbours differ in their rights, so that no two become one.
std::uint64_t map_among_many() {
  std::size_t count = 0;
  const auto map = [&count] {
    const int rights = ++count % 2 == 0 ? PROT_READ : PROT_NONE;
    expect(mmap(nullptr, 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, "a mapping");
  };
  while (count < 20'000) map();
  return cost_of(map);
}

}  // namespace

int main() {
  report("system call", cost_of([] { call(SYS_getppid); }));
  report("system call that nobody answers", cost_of([] { call(SYS_vhangup); }));
  report("clock_gettime", cost_of([] {
           timespec time;
           clock_gettime(CLOCK_MONOTONIC, &time);
         }));
  report("longest pause of a thread alone", longest_pause());
  report("thread create and join", cost_of(create_and_join));
  report("half a futex ping-pong", half_ping_pong());
  report("mmap among 20,000", map_among_many());
}
