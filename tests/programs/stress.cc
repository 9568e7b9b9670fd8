// Sixty-four threads that share two CPUs: mutexes, condition variables, thread-local storage, cancellation, and signals
// from all to all.
// program-test: processors 2
// program-test: memory 256
// program-test: seconds 200
// program-test: expect 64 threads behaved
// program-test: long
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "tests/programs/check.h"

namespace {

constexpr int thread_count = 64, rounds = 40;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
long shared = 0;
int turn = 0;
std::atomic<int> signals_seen[thread_count];
std::atomic<long> handled{0}, sent{0};
thread_local int own_number = -1;
thread_local volatile long own_sum = 0;
pthread_t threads[thread_count];

void on_signal(int) {
  const int error = errno;
  if (own_number >= 0) ++signals_seen[own_number];
  ++handled;
  errno = error;
}

void* work(void* argument) {
  own_number = static_cast<int>(reinterpret_cast<long>(argument));
  unsigned seed = static_cast<unsigned>(own_number) * 2654435761u + 1;
  for (int round = 0; round < rounds; ++round) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    const long before = shared;
    if (round % 8 == 0) sched_yield();
    shared = before + 1;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    own_sum = own_sum + own_number;
    seed = seed * 1103515245 + 12345;
    // A signal to any of the others, which computes, waits for the mutex, or sleeps.
    if (pthread_kill(threads[seed / 65536 % thread_count], SIGUSR1) == 0) ++sent;
    if (round % 10 == 0) {
      const timespec time{0, 100'000};
      nanosleep(&time, nullptr);
    }
    volatile double value = own_number;
    for (int i = 0; i < 200; ++i) value = value * 1.0000001 + 0.5;
  }
  // Each in its turn.
  CHECK(pthread_mutex_lock(&mutex) == 0);
  while (turn != own_number) CHECK(pthread_cond_wait(&changed, &mutex) == 0);
  ++turn;
  CHECK(pthread_cond_broadcast(&changed) == 0 && pthread_mutex_unlock(&mutex) == 0);
  CHECK(own_sum == static_cast<long>(own_number) * rounds);
  // They stay until all are done, so that every signal finds its thread.
  CHECK(pthread_mutex_lock(&mutex) == 0);
  while (turn < thread_count) CHECK(pthread_cond_wait(&changed, &mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  return argument;
}

std::atomic<int> cleaned{0};
void* wait_forever(void*) {
  pthread_cleanup_push([](void*) { ++cleaned; }, nullptr);
  for (;;) {
    const timespec time{1, 0};
    nanosleep(&time, nullptr);
  }
  pthread_cleanup_pop(1);
}

}  // namespace

int main() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
  CHECK(pthread_mutex_lock(&mutex) == 0);  // until the list of threads is whole
  for (long i = 0; i < thread_count; ++i) {
    CHECK(pthread_create(&threads[i], nullptr, work, reinterpret_cast<void*>(i)) == 0);
  }
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  for (long i = 0; i < thread_count; ++i) {
    void* result = nullptr;
    CHECK(pthread_join(threads[i], &result) == 0 && result == reinterpret_cast<void*>(i));
  }
  CHECK(shared == static_cast<long>(thread_count) * rounds && turn == thread_count);
  CHECK(sent == static_cast<long>(thread_count) * rounds && handled > 0 && handled <= sent);
  for (int round = 0; round < 2; ++round) {
    for (pthread_t& thread : threads) CHECK(pthread_create(&thread, nullptr, wait_forever, nullptr) == 0);
    for (const pthread_t thread : threads) CHECK(pthread_cancel(thread) == 0);
    for (const pthread_t thread : threads) {
      void* result = nullptr;
      CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
  }
  CHECK(cleaned <= 2 * thread_count);  // one that was cancelled before it began has nothing to clean
  std::printf("64 threads behaved: %ld signals sent, %ld handled\n", sent.load(), handled.load());
  return 0;
}
