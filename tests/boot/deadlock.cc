// Three threads that wait for each other in a circle are named, with what they wait for, when the last falls asleep.
//
// boot-test: panic
// boot-test: expect three hold one each
// boot-test: expect found a deadlock
// boot-test: expect panic: "c" waits for 0xffff
// boot-test: expect panic: "a" waits for 0xffff
// boot-test: expect panic: "b" waits for 0xffff
// boot-test: expect in thread "c" on CPU
#include "os/boot/kernel.h"
#include "os/schedule/mutex.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

struct Philosopher {
  Mutex* left;
  Mutex* right;
};

void dine(Philosopher& philosopher) {
  current_thread().lock_checker = nullptr;  // ranks would forbid it; this is what happens where they were not checked
  philosopher.left->lock();
  current_scheduler().yield();
  philosopher.right->lock();
}

}  // namespace

void run_payload(Kernel& kernel) {
  Mutex forks[3] = {Mutex(LockRank::device), Mutex(LockRank::device), Mutex(LockRank::device)};
  Philosopher philosophers[3] = {{&forks[0], &forks[1]}, {&forks[1], &forks[2]}, {&forks[2], &forks[0]}};
  kernel.log.information("three hold one each");
  std::optional<KernelThread> threads[3];
  constexpr std::string_view names[3] = {"a", "b", "c"};
  for (std::size_t i = 0; i < 3; ++i) {
    Result<KernelThread> thread = spawn(kernel, names[i], dine, philosophers[i]);
    if (!thread.ok()) panic(thread.error());
    threads[i].emplace(std::move(thread).value());
  }
}

}  // namespace ingot::os
