// Signals among threads: which one gets them, and cancellation, which is made of them.
// program-test: processors 2
// program-test: expect all threads were reached
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "tests/programs/signal_handlers.h"

namespace {

void threads_and_signals() {
  // To the process: whichever thread does not block it.
  const sigset_t blocked = set_of(SIGUSR1);
  sigset_t before;
  handle(SIGUSR1, count);
  CHECK(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
  static std::atomic<int> ready;
  ready = 0;
  pthread_t thread;
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              const sigset_t open = set_of(SIGUSR1);
              CHECK(pthread_sigmask(SIG_UNBLOCK, &open, nullptr) == 0);
              ready = 1;
              while (ready == 1) {
                const timespec time{0, 5'000'000};
                nanosleep(&time, nullptr);
              }
              return nullptr;
            },
            nullptr) == 0);
  while (ready == 0) sched_yield();
  seen = 0;
  CHECK(kill(getpid(), SIGUSR1) == 0);
  for (int i = 0; i < 1000 && seen == 0; ++i) usleep(1000);
  CHECK(seen == 1);
  ready = 2;
  CHECK(pthread_join(thread, nullptr) == 0);
  CHECK(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);

  // A thread that only computes is interrupted for it.
  static std::atomic<bool> stop;
  stop = false;
  handle(SIGUSR2, [](int) { stop = true; });
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              ready = 3;
              while (!stop) {
              }
              return nullptr;
            },
            nullptr) == 0);
  while (ready != 3) sched_yield();
  CHECK(pthread_kill(thread, SIGUSR2) == 0 && pthread_join(thread, nullptr) == 0);
}

std::atomic<int> cleaned;
void cancellation() {
  static int ends[2];
  CHECK(pipe(ends) == 0);
  pthread_t thread;
  void* result = nullptr;
  cleaned = 0;
  // In a call that waits.
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              pthread_cleanup_push([](void*) { ++cleaned; }, nullptr);
              char byte = 0;
              CHECK(read(ends[0], &byte, 1) == 1);
              pthread_cleanup_pop(0);
              return nullptr;
            },
            nullptr) == 0);
  usleep(10'000);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
  CHECK(result == PTHREAD_CANCELED && cleaned == 1);
  // Anywhere.
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
              for (;;) {
              }
            },
            nullptr) == 0);
  usleep(10'000);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  // Waiting for a condition: the mutex is held again in the cleanup.
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              pthread_mutex_lock(&mutex);
              pthread_cleanup_push([](void*) { pthread_mutex_unlock(&mutex); }, nullptr);
              for (;;) pthread_cond_wait(&condition, &mutex);
              pthread_cleanup_pop(1);
            },
            nullptr) == 0);
  usleep(10'000);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(pthread_mutex_trylock(&mutex) == 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace

int main() {
  threads_and_signals();
  cancellation();
  std::puts("all threads were reached");
  return 0;
}
