// FUTEX_WAKE_OP: one call changes a word, wakes who waits at another, and, by what the first was, who waits at it.
// program-test: processors 2
// program-test: expect words change and waiters wake
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <initializer_list>
#include <thread>
#include <vector>

#include "tests/programs/check.h"

namespace {

using Word = std::uint32_t;

long change_and_wake(Word* word, int most, Word* other, long most_there, unsigned operation) {
  return syscall(SYS_futex, word, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, most, most_there, other, operation);
}

void change() {
  const struct {
    int operation, operand;
    Word before, after;
  } changes[] = {{FUTEX_OP_SET, 7, 1, 7},
                 {FUTEX_OP_ADD, 5, 1, 6},
                 {FUTEX_OP_ADD, -1, 1, 0},
                 {FUTEX_OP_OR, 6, 1, 7},
                 {FUTEX_OP_ANDN, 1, 7, 6},
                 {FUTEX_OP_XOR, 3, 5, 6},
                 {FUTEX_OP_SET, -2048, 0, 0xffff'f800},
                 {FUTEX_OP_OR | FUTEX_OP_OPARG_SHIFT, 31, 1, 0x8000'0001}};
  Word here = 0;
  for (const auto& it : changes) {
    Word word = it.before;
    const auto packed = static_cast<unsigned>(it.operation) << 28 | (static_cast<unsigned>(it.operand) & 0xfff) << 12;
    CHECK(change_and_wake(&here, 1, &word, 1, packed) == 0 && word == it.after && here == 0);
  }
  Word words[3] = {1, 2, 3};
  CHECK(change_and_wake(&here, 1, &words[0], 1, 5u << 28) == -1 && errno == ENOSYS && words[0] == 1);
  CHECK(change_and_wake(&here, 1, &words[0], 1, 6u << 24) == -1 && errno == ENOSYS);
  auto* crooked = reinterpret_cast<Word*>(reinterpret_cast<char*>(words) + 2);
  CHECK(change_and_wake(&here, 1, crooked, 1, 0) == -1 && errno == EINVAL);
  CHECK(change_and_wake(crooked, 1, &here, 1, 0) == -1 && errno == EINVAL);
  CHECK(change_and_wake(&here, 1, nullptr, 1, 0) == -1 && errno == EFAULT);
  static const Word constant = 3;
  CHECK(change_and_wake(&here, 1, const_cast<Word*>(&constant), 1, FUTEX_OP(FUTEX_OP_SET, 4, 0, 0)) == -1);
  CHECK(errno == EFAULT && constant == 3);
}

// Two wait at each word; answers how many one call woke. Nobody tells when a thread sleeps, so it may be fewer than are
// to be woken.
long wake_once(unsigned compare, Word before) {
  Word here = 0, there = before;
  std::vector<std::thread> threads;
  std::atomic<int> begun = 0, returned = 0;
  for (Word* word : {&here, &here, &there, &there}) {
    threads.emplace_back([&begun, &returned, word, value = *word] {
      ++begun;
      CHECK(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0) == 0);
      ++returned;
    });
  }
  while (begun < 4) usleep(1000);
  usleep(10'000);
  const long woken = change_and_wake(&here, 1, &there, 2, FUTEX_OP(FUTEX_OP_ADD, 0, compare, 5));
  while (returned < 4) {
    for (Word* word : {&here, &there}) syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    usleep(1000);
  }
  for (std::thread& thread : threads) thread.join();
  return woken;
}

void wake() {
  const struct {
    unsigned compare;
    Word before;
    long woken;
  } cases[] = {{FUTEX_OP_CMP_EQ, 5, 3}, {FUTEX_OP_CMP_EQ, 4, 1}, {FUTEX_OP_CMP_NE, 4, 3},
               {FUTEX_OP_CMP_LT, 4, 3}, {FUTEX_OP_CMP_LT, 5, 1}, {FUTEX_OP_CMP_LE, 5, 3},
               {FUTEX_OP_CMP_GT, 6, 3}, {FUTEX_OP_CMP_GE, 4, 1}, {FUTEX_OP_CMP_LT, ~0u, 3}};  // it has a sign
  for (const auto& it : cases) {
    long woken = 0;
    while (woken < it.woken) woken = wake_once(it.compare, it.before);
    CHECK(woken == it.woken);
  }
}

// Who names none wakes one, as on Linux; a word that is not aligned is none.
void wake_without_a_count() {
  Word word = 0;
  std::atomic<bool> returned = false;
  std::thread sleeper([&] {
    CHECK(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0) == 0);
    returned = true;
  });
  while (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 0, nullptr, nullptr, 0) == 0) usleep(1000);
  sleeper.join();
  CHECK(returned);
  Word words[2] = {};
  auto* crooked = reinterpret_cast<char*>(words) + 1;
  for (const int operation : {FUTEX_WAKE_PRIVATE, FUTEX_WAKE_BITSET_PRIVATE, FUTEX_CMP_REQUEUE_PRIVATE}) {
    CHECK(syscall(SYS_futex, crooked, operation, 1, nullptr, words, 1) == -1 && errno == EINVAL);
  }
}

// Whoever changes the word at the same time loses nothing.
void add_together() {
  Word here = 0, sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 1000; ++turn) {
        CHECK(change_and_wake(&here, 1, &sum, 1, FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_LT, 0)) == 0);
        __atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sum == 6000);
}

}  // namespace

int main() {
  change();
  wake();
  wake_without_a_count();
  add_together();
  std::puts("words change and waiters wake");
}
