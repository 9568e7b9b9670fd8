// Locks whose word names their owner: mutexes with PTHREAD_PRIO_INHERIT, robust ones, and the futex calls beneath.
// program-test: processors 2
// program-test: expect all locks behaved
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/programs/check.h"

namespace {

class Mutex {
 public:
  Mutex(int kind, int robustness) {
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0 && pthread_mutexattr_settype(&attributes, kind) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, robustness) == 0);
    CHECK(pthread_mutex_init(&mutex_, &attributes) == 0);
  }
  operator pthread_mutex_t*() { return &mutex_; }

 private:
  pthread_mutex_t mutex_;
};

timespec after(clockid_t clock, int milliseconds) {
  timespec time{};
  CHECK(clock_gettime(clock, &time) == 0);
  time.tv_nsec += milliseconds * 1'000'000;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

void many_threads() {
  Mutex mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
  long count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 500; ++turn) {
        CHECK(pthread_mutex_lock(mutex) == 0);
        const long before = count;
        if (turn % 16 == 0) sched_yield();
        count = before + 1;
        CHECK(pthread_mutex_unlock(mutex) == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 2000);
}

void one_owner() {
  Mutex mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
  CHECK(pthread_mutex_lock(mutex) == 0 && pthread_mutex_lock(mutex) == EDEADLK);
  std::thread([&] {
    CHECK(pthread_mutex_trylock(mutex) == EBUSY && pthread_mutex_unlock(mutex) == EPERM);
    const timespec wall = after(CLOCK_REALTIME, 20), monotonic = after(CLOCK_MONOTONIC, 40);
    CHECK(pthread_mutex_timedlock(mutex, &wall) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &monotonic) == ETIMEDOUT);
  }).join();
  CHECK(pthread_mutex_unlock(mutex) == 0);
}

// A handler runs while its thread waits; the lock is had all the same, never EINTR.
std::atomic<int> handled;
void signals() {
  Mutex mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
  struct sigaction action{};
  action.sa_handler = [](int) { ++handled; };
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0 && pthread_mutex_lock(mutex) == 0);
  std::atomic<bool> locked = false;
  std::thread waiter([&] {
    CHECK(pthread_mutex_lock(mutex) == 0);
    locked = true;
    CHECK(pthread_mutex_unlock(mutex) == 0);
  });
  usleep(20'000);
  CHECK(pthread_kill(waiter.native_handle(), SIGUSR1) == 0);
  usleep(20'000);
  CHECK(handled == 1 && !locked && pthread_mutex_unlock(mutex) == 0);
  waiter.join();
}

// The owner ends: somebody who waits has the lock, or the next who comes, and both are told.
void dead_owners() {
  Mutex mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
  std::atomic<bool> taken = false;
  std::thread owner([&] {
    CHECK(pthread_mutex_lock(mutex) == 0);
    taken = true;
    usleep(30'000);
  });
  while (!taken) usleep(1000);
  CHECK(pthread_mutex_lock(mutex) == EOWNERDEAD && pthread_mutex_consistent(mutex) == 0);
  CHECK(pthread_mutex_unlock(mutex) == 0 && pthread_mutex_lock(mutex) == 0 && pthread_mutex_unlock(mutex) == 0);
  owner.join();
  std::thread([&] { CHECK(pthread_mutex_lock(mutex) == 0); }).join();
  CHECK(pthread_mutex_trylock(mutex) == EOWNERDEAD && pthread_mutex_unlock(mutex) == 0);
  CHECK(pthread_mutex_lock(mutex) == ENOTRECOVERABLE);
  void* head = nullptr;
  std::size_t bytes = 0;
  CHECK(syscall(SYS_get_robust_list, 0, &head, &bytes) == 0 && head != nullptr && bytes == 24);
  CHECK(syscall(SYS_get_robust_list, 4711, &head, &bytes) == -1 && errno == ESRCH);
}

long futex(std::uint32_t* word, int operation) { return syscall(SYS_futex, word, operation, 0, nullptr, nullptr, 0); }

void words() {
  alignas(4) std::uint32_t words[2] = {};
  const auto own = static_cast<std::uint32_t>(gettid());
  CHECK(futex(&words[0], FUTEX_LOCK_PI) == 0 && words[0] == own);
  CHECK(futex(&words[0], FUTEX_LOCK_PI) == -1 && errno == EDEADLK);
  CHECK(futex(&words[1], FUTEX_UNLOCK_PI) == -1 && errno == EPERM);
  CHECK(futex(nullptr, FUTEX_LOCK_PI) == -1 && errno == EFAULT);
  CHECK(syscall(SYS_futex, reinterpret_cast<char*>(words) + 1, FUTEX_LOCK_PI, 0, nullptr, nullptr, 0) == -1);
  CHECK(errno == EINVAL);
  // Two that would wait for each other: the second is told so.
  std::thread other([&] {
    CHECK(futex(&words[1], FUTEX_LOCK_PI) == 0);
    CHECK(futex(&words[0], FUTEX_LOCK_PI) == 0 && futex(&words[0], FUTEX_UNLOCK_PI) == 0);
    CHECK(futex(&words[1], FUTEX_UNLOCK_PI) == 0);
  });
  while ((__atomic_load_n(&words[0], __ATOMIC_SEQ_CST) & FUTEX_WAITERS) == 0) usleep(1000);
  CHECK(futex(&words[1], FUTEX_LOCK_PI) == -1 && errno == EDEADLK);
  CHECK(futex(&words[0], FUTEX_UNLOCK_PI) == 0);
  other.join();
  CHECK(words[0] == 0 && words[1] == 0);
  // One whose owner never was.
  words[0] = 4711;
  CHECK(futex(&words[0], FUTEX_LOCK_PI) == -1 && errno == ESRCH);
  words[0] = 0;
  CHECK(futex(&words[0], FUTEX_TRYLOCK_PI) == 0 && futex(&words[0], FUTEX_UNLOCK_PI) == 0 && words[0] == 0);
}

}  // namespace

int main() {
  many_threads();
  one_owner();
  signals();
  dead_owners();
  words();
  std::puts("all locks behaved");
  return 0;
}
