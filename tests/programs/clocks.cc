// The time, and the CPU's number, that a program reads by itself (the vDSO) are those that the kernel tells; and the
// object stands in its memory, as Linux has it.
//
// program-test: processors 2
// program-test: expect vdso: r-xp [vdso] behind r--p [vvar]
// program-test: expect clocks: 2000 turns in order on each of 2 CPUs
// program-test: expect clocks: date, resolution and CPU agree
#include <elf.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("clocks: expected %s\n", what);
  std::exit(1);
}

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }
std::int64_t by_library(clockid_t clock) {
  timespec time{};
  expect(clock_gettime(clock, &time) == 0, "a time");
  return nanoseconds(time);
}
std::int64_t by_kernel(clockid_t clock) {
  timespec time{};
  expect(syscall(SYS_clock_gettime, clock, &time) == 0, "a time from the kernel");
  return nanoseconds(time);
}

void expect_object_in_maps() {
  const auto object = getauxval(AT_SYSINFO_EHDR);
  expect(object != 0, "AT_SYSINFO_EHDR");
  expect(std::memcmp(reinterpret_cast<const void*>(object), ELFMAG, SELFMAG) == 0, "an ELF header there");
  std::ifstream maps("/proc/self/maps");
  std::string line, facts, code;
  while (std::getline(maps, line)) {
    if (line.ends_with("[vvar]")) facts = line;
    if (line.ends_with("[vdso]")) code = line;
  }
  std::ostringstream begin;
  begin << std::hex << object;
  expect(code.starts_with(begin.str() + "-") && facts.find("-" + begin.str() + " ") != std::string::npos,
         "[vdso] at AT_SYSINFO_EHDR, behind [vvar]");
  std::printf("vdso: %s [vdso] behind %s [vvar]\n", code.substr(code.find(' ') + 1, 4).c_str(),
              facts.substr(facts.find(' ') + 1, 4).c_str());
}

// Library and kernel in turn: no time is before the one that was read before it.
void* compare_in_turn(void* argument) {
  const auto cpu = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  expect(sched_setaffinity(0, sizeof set, &set) == 0, "to be pinned");
  for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
    std::int64_t last = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::int64_t time = i % 2 == 0 ? by_library(clock) : by_kernel(clock);
      expect(time >= last, "time to go on");
      last = time;
    }
    expect(sched_getcpu() == cpu, "to stay where it was pinned");
  }
  return nullptr;
}

}  // namespace

int main() {
  expect_object_in_maps();
  pthread_t threads[2];
  for (std::intptr_t cpu = 0; cpu < 2; ++cpu) {
    expect(pthread_create(&threads[cpu], nullptr, compare_in_turn, reinterpret_cast<void*>(cpu)) == 0, "a thread");
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  std::puts("clocks: 2000 turns in order on each of 2 CPUs");

  timeval day{};
  expect(gettimeofday(&day, nullptr) == 0 && day.tv_usec >= 0 && day.tv_usec < 1'000'000, "a time of day");
  expect(std::llabs(day.tv_sec - time(nullptr)) <= 1, "the same second from time()");
  expect(day.tv_sec > 1'700'000'000, "a date");
  timespec resolution{};
  expect(clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && nanoseconds(resolution) == 1, "a nanosecond");
  expect(clock_getres(12345, &resolution) != 0, "no such clock");
  unsigned cpu = 99, node = 99;
  expect(syscall(SYS_getcpu, &cpu, &node, nullptr) == 0 && cpu < 2 && node == 0, "a CPU");
  std::puts("clocks: date, resolution and CPU agree");
}
