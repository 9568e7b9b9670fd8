// The hunt for lost wake-ups: many threads on all CPUs that wait for each other through everything the kernel waits
// with. A wake-up that is lost leaves somebody asleep, and the test without an end; one too many shows in the counts.
//
// boot-test: processors 4
// boot-test: success
// boot-test: expect mutex: 2400
// boot-test: expect condition variable: 1200 made, 1200 used
// boot-test: expect semaphores: 800 rounds
// boot-test: expect channels: 600 words, sum 180300
// boot-test: expect timed waits: 400 answers
#include <array>
#include <optional>

#include "os/boot/kernel.h"
#include "os/schedule/channel.h"
#include "os/schedule/condition_variable.h"
#include "os/schedule/kernel_thread.h"
#include "os/schedule/semaphore.h"
#include "os/schedule/task.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

KernelThread require(Result<KernelThread> thread) {
  if (!thread.ok()) panic(thread.error());
  return std::move(thread).value();
}

// `count` threads that all do the same; returns when all have ended.
template <std::size_t count, class Shared>
void run_together(Kernel& kernel, std::string_view name, void (*body)(Shared&), Shared& shared) {
  std::array<std::optional<KernelThread>, count> threads;
  for (auto& thread : threads) thread.emplace(require(spawn(kernel, name, body, shared)));
}

struct Counter {
  Mutex mutex{LockRank::device};
  int value = 0;
};
void count_up(Counter& counter) {
  for (int i = 0; i < 300; ++i) {
    const MutexGuard guard(counter.mutex);
    const int before = counter.value;
    if (i % 8 == 0) current_scheduler().yield();  // with the mutex: now others wait for it
    counter.value = before + 1;
  }
}

// A store with three places, so that makers and users wait for each other all the time.
struct Store {
  Mutex mutex{LockRank::device};
  ConditionVariable has_room, has_goods;
  int goods = 0, made = 0, used = 0;
};
void make(Store& store) {
  for (int i = 0; i < 300; ++i) {
    const MutexGuard guard(store.mutex);
    store.has_room.wait(store.mutex, [&] { return store.goods < 3; });
    ++store.goods;
    ++store.made;
    store.has_goods.wake_one();
  }
}
void use(Store& store) {
  for (int i = 0; i < 300; ++i) {
    const MutexGuard guard(store.mutex);
    store.has_goods.wait(store.mutex, [&] { return store.goods > 0; });
    --store.goods;
    ++store.used;
    store.has_room.wake_one();
  }
}

struct Court {
  Semaphore ping{0}, pong{0};
  Atomic<int> rounds;
};
void serve(Court& court) {
  for (int i = 0; i < 200; ++i) {
    court.ping.release();
    court.pong.acquire();
  }
}
void answer(Court& court) {
  for (int i = 0; i < 200; ++i) {
    court.ping.acquire();
    court.rounds.fetch_add(1, MemoryOrder::relaxed);
    court.pong.release();
  }
}

struct Words {
  Kernel& kernel;
  Channel<int, 2> channel{};
  int count = 0, sum = 0;
  Semaphore done{0};
};
Task<void> add_words(Allocator&, Words& words) {
  while (true) {
    const Result<int> word = co_await words.channel.receive();
    if (!word.ok()) break;
    ++words.count;
    words.sum += word.value();
  }
  words.done.release();
  co_return {};
}
void send_words(Words& words) {
  for (int i = 1; i <= 200; ++i) {
    int word = 3 * i - 1;
    while (!words.channel.try_send(word)) current_scheduler().yield();
  }
}

// Answers come at any moment around the deadlines, which are far too short.
struct Exam {
  Kernel& kernel;
  WaitQueue queue{};
  Atomic<int> open{}, answers{};
};
bool take_one(Exam& exam) {
  int found = exam.open.load(MemoryOrder::acquire);
  while (found > 0) {
    if (exam.open.compare_exchange(found, found - 1, MemoryOrder::acquire_release)) return true;
  }
  return false;
}
void wait_shortly(Exam& exam) {
  for (int i = 0; i < 100; ++i) {
    while (!exam.queue.wait_until([&] { return take_one(exam); }, exam.kernel.now() + Nanoseconds(20'000))) {
    }
    exam.answers.fetch_add(1, MemoryOrder::relaxed);
  }
}
void give_answers(Exam& exam) {
  for (int i = 0; i < 200; ++i) {
    exam.open.fetch_add(1, MemoryOrder::release);
    exam.queue.wake_one();
    if (i % 4 == 0) current_scheduler().yield();
  }
}

}  // namespace

void run_payload(Kernel& kernel) {
  Counter counter;
  run_together<8>(kernel, "counter", count_up, counter);
  kernel.log.information("mutex: ", counter.value);
  Store store;
  {
    const auto makers = [&] { run_together<4>(kernel, "maker", make, store); };
    std::array<std::optional<KernelThread>, 4> users;
    for (auto& user : users) user.emplace(require(spawn(kernel, "user", use, store)));
    makers();
  }
  kernel.log.information("condition variable: ", store.made, " made, ", store.used, " used");
  std::array<Court, 4> courts;
  {
    std::array<std::optional<KernelThread>, 8> players;
    for (std::size_t i = 0; i < 8; ++i) {
      players[i].emplace(require(spawn(kernel, "player", i % 2 == 0 ? serve : answer, courts[i / 2])));
    }
  }
  int rounds = 0;
  for (Court& court : courts) rounds += court.rounds.load(MemoryOrder::relaxed);
  kernel.log.information("semaphores: ", rounds, " rounds");
  Words words{kernel};
  const Result<void> task = Task<void>::spawn(current_tasks(), add_words(kernel.memory->heap(), words));
  if (!task.ok()) panic(task.error());
  run_together<3>(kernel, "sender", send_words, words);
  words.channel.close();
  words.done.acquire();
  kernel.log.information("channels: ", words.count, " words, sum ", words.sum);
  Exam exam{kernel};
  {
    const KernelThread first = require(spawn(kernel, "answers", give_answers, exam));
    const KernelThread second = require(spawn(kernel, "answers", give_answers, exam));
    run_together<4>(kernel, "waits", wait_shortly, exam);
  }
  kernel.log.information("timed waits: ", exam.answers.load(MemoryOrder::relaxed), " answers");
}

}  // namespace ingot::os
