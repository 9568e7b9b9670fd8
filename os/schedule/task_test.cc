#include "os/schedule/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "os/schedule/channel.h"
#include "os/schedule/sleep.h"
#include "os/schedule/test_heap.h"

namespace ingot::os {
namespace {

class TestAlarm : public TimerAlarm {
 public:
  void ring_at(Nanoseconds time) override { rings_at = time; }
  Nanoseconds rings_at{0};
};

Task<int> half(Allocator&, int number) {
  if (number % 2 != 0) co_return Error::of(ErrorCode::invalid_argument, "expected an even number, found ", number);
  co_return number / 2;
}

Task<int> quarter(Allocator& heap, int number) {
  const Result<int> first = co_await half(heap, number);
  if (!first.ok()) co_return first.error();
  co_return co_await half(heap, first.value());
}

Task<void> keep(Allocator& heap, int number, std::vector<Result<int>>& results) {
  results.push_back(co_await quarter(heap, number));
  co_return {};
}

TEST(Task, GivesValuesAndErrorsToWhoAwaits) {
  TestHeap heap;
  Executor executor;
  std::vector<Result<int>> results;
  for (int number : {12, 6, 7}) ASSERT_TRUE(Task<void>::spawn(executor, keep(heap, number, results)).ok());
  EXPECT_TRUE(results.empty());  // nothing runs before its turn
  EXPECT_EQ(executor.run_ready(), 3u);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].value(), 3);
  EXPECT_EQ(results[1].error().text(), "expected an even number, found 3");
  EXPECT_EQ(results[2].error().text(), "expected an even number, found 7");
}

TEST(Task, NoMemoryIsAnErrorWhereverItHappens) {
  // Frames: keep, quarter, half; with one fewer at a time, each is once the one that fails.
  for (int frames = 0; frames <= 3; ++frames) {
    TestHeap heap;
    Executor executor;
    std::vector<Result<int>> results;
    heap.left = frames;
    const Result<void> spawned = Task<void>::spawn(executor, keep(heap, 3, results));
    EXPECT_EQ(spawned.ok(), frames > 0);
    executor.run_ready();
    if (frames == 0) continue;
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].error().code(), frames < 3 ? ErrorCode::out_of_memory : ErrorCode::invalid_argument);
  }
}

TEST(Task, OneThatNeverStartsIsFreed) {
  TestHeap heap;
  {
    const Task<int> task = half(heap, 4);
  }
  EXPECT_EQ(heap.statistics().allocations, 1u);
}

TEST(Task, LambdasAndMembersFindTheAllocatorBehindTheirObject) {
  TestHeap heap;
  Executor executor;
  int sum = 0;
  const auto add = [&sum](Allocator&, int number) -> Task<void> {
    sum += number;
    co_return {};
  };
  ASSERT_TRUE(Task<void>::spawn(executor, add(heap, 5)).ok());
  executor.run_ready();
  EXPECT_EQ(sum, 5);
}

Task<void> deep(Allocator& heap, int depth, int& reached) {
  if (depth == 0) co_return {};
  ++reached;
  co_return co_await deep(heap, depth - 1, reached);
}

TEST(Task, ChainsOfAnyLengthReturn) {
  TestHeap heap;
  Executor executor;
  int reached = 0;
  ASSERT_TRUE(Task<void>::spawn(executor, deep(heap, 900, reached)).ok());
  executor.run_ready();
  EXPECT_EQ(reached, 900);
}

Task<void> wait_and_note(Allocator&, TimerQueue& timers, int time, std::vector<int>& order) {
  co_await SleepUntil(timers, Nanoseconds(time));
  order.push_back(time);
  co_await SleepUntil(timers, Nanoseconds(time + 100));
  order.push_back(time + 100);
  co_return {};
}

TEST(SleepUntil, TasksGoOnInTheOrderOfTheirTimes) {
  TestHeap heap;
  Executor executor;
  TestAlarm alarm;
  TimerQueue timers(alarm);
  std::vector<int> order;
  for (int time : {30, 10, 150, 20})
    ASSERT_TRUE(Task<void>::spawn(executor, wait_and_note(heap, timers, time, order)).ok());
  while (executor.run_ready(), timers.next_deadline().has_value()) timers.expire(alarm.rings_at);
  EXPECT_EQ(order, (std::vector<int>{10, 20, 30, 110, 120, 130, 150, 250}));
}

Task<void> send_all(Allocator&, Channel<std::unique_ptr<int>, 2>& channel, int from, int count, int& refused) {
  for (int i = 0; i < count; ++i) {
    const Result<void> sent = co_await channel.send(std::make_unique<int>(from + i));
    if (!sent.ok()) ++refused;
  }
  co_return {};
}

Task<void> receive_all(Allocator&, Channel<std::unique_ptr<int>, 2>& channel, std::vector<int>& received) {
  while (true) {
    const Result<std::unique_ptr<int>> value = co_await channel.receive();
    if (!value.ok()) co_return value.error();
    received.push_back(*value.value());
  }
}

TEST(Channel, CarriesEverythingInOrderThroughAFullRing) {
  TestHeap heap;
  Executor executor;
  Channel<std::unique_ptr<int>, 2> channel;
  std::vector<int> received;
  int refused = 0;
  ASSERT_TRUE(Task<void>::spawn(executor, send_all(heap, channel, 0, 50, refused)).ok());
  executor.run_ready();  // two lie in the ring, the third waits
  ASSERT_TRUE(Task<void>::spawn(executor, receive_all(heap, channel, received)).ok());
  executor.run_ready();
  ASSERT_EQ(received.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(received[static_cast<std::size_t>(i)], i);
  channel.close();
  executor.run_ready();
  EXPECT_EQ(refused, 0);
}

TEST(Channel, AHandlerSendsWithoutWaiting) {
  Channel<int, 2> channel;
  int values[] = {1, 2, 3};
  EXPECT_TRUE(channel.try_send(values[0]));
  EXPECT_TRUE(channel.try_send(values[1]));
  EXPECT_FALSE(channel.try_send(values[2]));
  EXPECT_EQ(channel.try_receive(), 1);
  EXPECT_TRUE(channel.try_send(values[2]));
  channel.close();
  EXPECT_FALSE(channel.try_send(values[0]));
  EXPECT_EQ(channel.try_receive(), 2);
  EXPECT_EQ(channel.try_receive(), 3);
  EXPECT_EQ(channel.try_receive(), std::nullopt);
}

TEST(Channel, ClosingEndsWhoWaits) {
  TestHeap heap;
  Executor executor;
  Channel<std::unique_ptr<int>, 2> full;
  Channel<std::unique_ptr<int>, 2> empty;
  int refused = 0;
  std::vector<int> received;
  ASSERT_TRUE(Task<void>::spawn(executor, send_all(heap, full, 0, 4, refused)).ok());
  ASSERT_TRUE(Task<void>::spawn(executor, receive_all(heap, empty, received)).ok());
  executor.run_ready();
  full.close();
  empty.close();
  executor.run_ready();
  EXPECT_EQ(refused, 2);  // the one that waited and the one after it
  EXPECT_TRUE(received.empty());
}

}  // namespace
}  // namespace ingot::os
