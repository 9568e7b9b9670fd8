// Threads run where they are told to: pinned by themselves, by others while they run, wait or spin, and from birth.
//
// program-test: processors 2
// program-test: options slice=2000
// program-test: expect affinity: sets are kept, wrong ones refused
// program-test: expect affinity: pinned threads stay
// program-test: expect affinity: a spinning thread follows another's word
// program-test: expect affinity: two that spin on one CPU take turns
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("affinity: expected %s\n", what);
  std::exit(1);
}

cpu_set_t only(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return set;
}
void pin(pid_t thread, int cpu) {
  const cpu_set_t set = only(cpu);
  expect(sched_setaffinity(thread, sizeof set, &set) == 0, "a thread to be pinned");
}
// The kernel's own word, not the vDSO's.
unsigned current_cpu() {
  unsigned cpu = 99;
  syscall(SYS_getcpu, &cpu, nullptr, nullptr);
  return cpu;
}
pthread_t start(void* (*function)(void*), std::intptr_t argument) {
  pthread_t thread;
  expect(pthread_create(&thread, nullptr, function, reinterpret_cast<void*>(argument)) == 0, "a thread");
  return thread;
}

void check_sets() {
  cpu_set_t set;
  expect(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 2, "both CPUs at first");
  pin(0, 1);
  expect(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1 && CPU_ISSET(1, &set), "the set given");
  set = only(40);
  expect(sched_setaffinity(0, sizeof set, &set) == -1 && errno == EINVAL, "no set without a CPU that exists");
  set = only(0);
  expect(sched_setaffinity(4711, sizeof set, &set) == -1 && errno == ESRCH, "no such thread");
  std::puts("affinity: sets are kept, wrong ones refused");
}

void* stay(void* argument) {
  const auto cpu = static_cast<unsigned>(reinterpret_cast<std::intptr_t>(argument));
  pin(0, static_cast<int>(cpu));
  for (int i = 0; i < 300; ++i) {
    expect(current_cpu() == cpu, "a pinned thread on its CPU");
    i % 3 == 0 ? usleep(100) : sched_yield();
  }
  return nullptr;
}
void* is_born_on_one(void*) {
  expect(current_cpu() == 1, "a thread to begin where its parent may run");
  return nullptr;
}

std::atomic<pid_t> spinner{0};
std::atomic<bool> done{false};
void* spin(void*) {
  pin(0, 0);
  spinner = static_cast<pid_t>(syscall(SYS_gettid));
  while (!done) {
  }
  expect(current_cpu() == 1, "the spinning thread on the CPU it was sent to");
  return nullptr;
}

std::atomic<int> turn{0};
void* take_turns(void* argument) {
  const auto own = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  pin(0, 0);
  while (turn < 10) {
    if (turn % 2 == own) ++turn;
  }
  return nullptr;
}

}  // namespace

int main() {
  check_sets();
  pthread_join(start(is_born_on_one, 0), nullptr);
  pthread_t threads[6];
  for (int i = 0; i < 6; ++i) threads[i] = start(stay, i % 2);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  std::puts("affinity: pinned threads stay");

  const pthread_t spinning = start(spin, 0);
  while (spinner == 0) usleep(1000);
  pin(spinner, 1);
  usleep(20'000);
  done = true;
  pthread_join(spinning, nullptr);
  std::puts("affinity: a spinning thread follows another's word");

  const pthread_t even = start(take_turns, 0), odd = start(take_turns, 1);
  pthread_join(even, nullptr);
  pthread_join(odd, nullptr);
  std::puts("affinity: two that spin on one CPU take turns");
}
