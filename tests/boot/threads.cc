// Kernel threads take turns, end, and leave nothing behind.
//
// boot-test: success
// boot-test: expect order: a1 b1 a2 b2 a3 b3
// boot-test: expect many: 100 threads at once, sum 4950
// boot-test: expect one after the other: 1000
// boot-test: expect stacks: all freed
// boot-test: expect ingot: done
#include "os/boot/kernel.h"
#include "os/schedule/semaphore.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

struct Turns {
  FixedText<64> order;
};
struct Player {
  Turns& turns;
  char letter;
};

void play(Player& player) {
  for (char turn = '1'; turn <= '3'; ++turn) {
    player.turns.order.append(' ').append(player.letter).append(turn);
    current_scheduler().yield();
  }
}

KernelThread require(Result<KernelThread> thread) {
  if (!thread.ok()) panic(thread.error());
  return std::move(thread).value();
}

void take_turns(Kernel& kernel) {
  Turns turns;
  Player first{turns, 'a'}, second{turns, 'b'};
  KernelThread a = require(spawn(kernel, "a", play, first));
  KernelThread b = require(spawn(kernel, "b", play, second));
  a.join();
  b.join();
  kernel.log.information("order:", turns.order.view());
}

// All wait at once, so that each has a stack of its own.
struct Crowd {
  Semaphore gate{0};
  std::uint64_t next = 0, sum = 0;
};
void add_number(Crowd& crowd) {
  const std::uint64_t number = crowd.next++;
  crowd.gate.acquire();
  crowd.sum += number;
}

void crowd_together(Kernel& kernel) {
  constexpr std::size_t count = 100;
  Crowd crowd;
  std::optional<KernelThread> threads[count];
  for (auto& thread : threads) thread.emplace(require(spawn(kernel, "one of many", add_number, crowd)));
  while (crowd.next < count) current_scheduler().yield();
  for (std::size_t i = 0; i < count; ++i) crowd.gate.release();
  for (auto& thread : threads) thread->join();
  kernel.log.information("many: ", count, " threads at once, sum ", crowd.sum);
}

}  // namespace

void run_payload(Kernel& kernel) {
  take_turns(kernel);  // also warms the caches of whatever threads are made of
  const MemoryInUse before = kernel.memory->in_use();
  crowd_together(kernel);
  int ended = 0;
  for (int i = 0; i < 1000; ++i) require(spawn(kernel, "short", [](int& count) { ++count; }, ended)).join();
  kernel.log.information("one after the other: ", ended);
  if (kernel.memory->in_use() == before) kernel.log.information("stacks: all freed");
}

}  // namespace ingot::os
