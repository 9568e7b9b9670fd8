#include "machine/workers.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "machine/limits.h"

namespace ingot {
namespace {

std::unique_ptr<Workers> workers_of(int threads, Pinning pinning = Pinning::free) {
  Result<std::unique_ptr<Workers>> created = Workers::create({.threads = threads, .pinning = pinning});
  EXPECT_TRUE(created.ok()) << created.error().text();
  return std::move(created).value();
}

TEST(Workers, RefusesThreadCountsOutOfRangeAndSaysWhy) {
  for (int threads : {0, -1, 1025}) {
    Result<std::unique_ptr<Workers>> created = Workers::create({.threads = threads});
    ASSERT_FALSE(created.ok());
    EXPECT_EQ(created.error().code(), ErrorCode::invalid_argument);
    std::string text(created.error().text());
    EXPECT_NE(text.find("expected 1 to 1024"), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(threads)), std::string::npos) << text;
  }
}

TEST(Workers, VisitsEveryItemExactlyOnce) {
  for (int threads : {1, 2, 3, 5}) {
    auto workers = workers_of(threads);
    ASSERT_EQ(workers->count(), threads);
    for (std::int64_t items : {1, 2, 7, 64, 97, 1001}) {
      for (std::int64_t chunk : {1, 3, 16, 1000, 5000}) {
        std::vector<int> visits(static_cast<std::size_t>(items), 0);  // plain: chunks write only their own rows
        workers->for_chunks(items, chunk, [&](std::int64_t begin, std::int64_t end, int worker) {
          EXPECT_GE(worker, 0);
          EXPECT_LT(worker, threads);
          for (std::int64_t item = begin; item < end; ++item) ++visits[static_cast<std::size_t>(item)];
        });
        EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int count) { return count == 1; }))
            << threads << " threads, " << items << " items, chunk " << chunk;
      }
    }
  }
}

TEST(Workers, BoundsDependOnItemsAndChunkOnly) {
  std::set<std::pair<std::int64_t, std::int64_t>> expected = {{0, 10}, {10, 20}, {20, 23}};
  for (int threads : {1, 2, 3}) {
    auto workers = workers_of(threads);
    std::mutex mutex;
    std::set<std::pair<std::int64_t, std::int64_t>> bounds;
    workers->for_chunks(23, 10, [&](std::int64_t begin, std::int64_t end, int) {
      std::scoped_lock lock(mutex);
      bounds.emplace(begin, end);
    });
    EXPECT_EQ(bounds, expected) << threads << " threads";
  }
}

TEST(Workers, AnEmptyRangeCallsNothing) {
  auto workers = workers_of(2);
  workers->for_chunks(0, 4, [](std::int64_t, std::int64_t, int) { FAIL() << "called for no items"; });
}

TEST(Workers, BoundsNearTheLargestNumberDoNotOverflow) {
  auto workers = workers_of(2);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> last{0};
  std::atomic<int> calls{0};
  workers->for_chunks(most, most / 2 + 1, [&](std::int64_t begin, std::int64_t end, int) {
    EXPECT_LT(begin, end);
    if (begin > 0) last = end;
    ++calls;
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(last, most);
}

TEST(Workers, ResultsAreTheSameForOneTwoAndThreeThreads) {
  auto sum_with = [](int threads) {
    auto workers = workers_of(threads);
    constexpr std::int64_t items = 10007, chunk = 64;
    std::vector<float> partial((items - 1) / chunk + 1);
    workers->for_chunks(items, chunk, [&](std::int64_t begin, std::int64_t end, int) {
      float sum = 0;
      for (std::int64_t item = begin; item < end; ++item) sum += 1.0f / static_cast<float>(item + 1);
      partial[static_cast<std::size_t>(begin / chunk)] = sum;
    });
    float total = 0;
    for (float part : partial) total += part;
    return total;
  };
  float expected = sum_with(1);
  EXPECT_EQ(sum_with(2), expected);  // bit-equal
  EXPECT_EQ(sum_with(3), expected);
}

TEST(Workers, ThousandsOfForkJoinsLoseNoChunkAndNoWrite) {
  for (int threads : {2, 4}) {
    auto workers = workers_of(threads);
    std::vector<std::int64_t> rows(13, 0);
    constexpr int rounds = 5000;
    for (int round = 0; round < rounds; ++round) {
      workers->for_chunks(13, 1 + round % 5, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row) rows[static_cast<std::size_t>(row)] += round;
      });
      // Long enough now and then for everyone to fall asleep: the wake must not be missed.
      if (round % 1000 == 999) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::int64_t expected = std::int64_t{rounds} * (rounds - 1) / 2;
    EXPECT_EQ(rows, std::vector<std::int64_t>(13, expected));
  }
}

TEST(Workers, SleepingWorkersAreWokenEveryTime) {
  auto workers = workers_of(2);
  for (int round = 0; round < 100; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    // Each chunk waits for the other to begin, so this returns only if the sleeper comes.
    std::atomic<int> begun{0};
    workers->for_chunks(2, 1, [&](std::int64_t, std::int64_t, int) {
      begun.fetch_add(1);
      while (begun.load() < 2) std::this_thread::yield();
    });
  }
}

TEST(Workers, MoreThreadsThanCpus) {
  auto workers = workers_of(usable_cpu_count() * 2 + 3);
  std::atomic<std::int64_t> total{0};
  for (int round = 0; round < 300; ++round) {
    workers->for_chunks(100, 1, [&](std::int64_t begin, std::int64_t, int) { total += begin; });
  }
  EXPECT_EQ(total, 300 * 4950);
}

TEST(Workers, PoolsComeAndGoWithoutWork) {
  for (int round = 0; round < 50; ++round) workers_of(1 + round % 4);
}

// A worker that another process keeps off its CPU, played by a signal handler that does not return.
std::atomic<int> stall_state{0};  // 1: the worker is held, 2: let go
void hold(int) {
  stall_state = 1;
  while (stall_state != 2) {
  }
}

TEST(Workers, AWorkerThatHasTakenNothingIsNotWaitedFor) {
#if defined(INGOT_THREAD_SANITIZED)
  GTEST_SKIP() << "ThreadSanitizer delays signals until the next library call, which a waiting worker never makes";
#endif
  auto workers = workers_of(2);
  std::atomic<pthread_t> worker_thread{};
  std::atomic<int> begun{0};
  workers->for_chunks(2, 1, [&](std::int64_t, std::int64_t, int worker) {
    if (worker == 1) worker_thread = pthread_self();
    begun.fetch_add(1);
    while (begun.load() < 2) std::this_thread::yield();
  });
  struct sigaction action{}, former{};
  action.sa_handler = hold;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &former), 0);
  stall_state = 0;
  ASSERT_EQ(pthread_kill(worker_thread, SIGUSR1), 0);
  while (stall_state != 1) std::this_thread::yield();

  std::atomic<int> chunks_of_caller{0};
  workers->for_chunks(100, 1, [&](std::int64_t, std::int64_t, int worker) { chunks_of_caller += worker == 0; });
  EXPECT_EQ(chunks_of_caller, 100);

  stall_state = 2;
  sigaction(SIGUSR1, &former, nullptr);
}

TEST(Workers, PinningGivesEachThreadOneCpuAndTheCallerItsMaskBack) {
  std::vector<int> before = affinity_cpus();
  int threads = std::min<int>(2, static_cast<int>(before.size()));
  if (threads == 0) GTEST_SKIP() << "the system has no affinity masks";
  {
    auto workers = workers_of(threads, Pinning::one_cpu_each);
    std::vector<std::vector<int>> seen(static_cast<std::size_t>(threads));
    std::atomic<int> begun{0};
    workers->for_chunks(threads, 1, [&](std::int64_t, std::int64_t, int worker) {
      seen[static_cast<std::size_t>(worker)] = affinity_cpus();
      begun.fetch_add(1);
      while (begun.load() < threads) std::this_thread::yield();
    });
    for (int worker = 0; worker < threads; ++worker) {
      auto index = static_cast<std::size_t>(worker);
      if (threads > 1) {  // a single thread runs inline and is pinned all the same
        EXPECT_EQ(seen[index], std::vector<int>{before[index]});
      }
    }
    EXPECT_EQ(affinity_cpus(), std::vector<int>{before[0]});
  }
  EXPECT_EQ(affinity_cpus(), before);
  Result<std::unique_ptr<Workers>> too_many =
      Workers::create({.threads = static_cast<int>(before.size()) + 1, .pinning = Pinning::one_cpu_each});
  ASSERT_FALSE(too_many.ok());
  EXPECT_EQ(too_many.error().code(), ErrorCode::invalid_argument);
}

TEST(WorkersDeathTest, AForkInsideATaskAndABadChunkTrap) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto workers = workers_of(1);
  auto nothing = [](std::int64_t, std::int64_t, int) {};
  EXPECT_DEATH(workers->for_chunks(1, 1, [&](std::int64_t, std::int64_t, int) { workers->for_chunks(1, 1, nothing); }),
               "");
  EXPECT_DEATH(workers->for_chunks(1, 0, nothing), "");
  EXPECT_DEATH(workers->for_chunks(1, -1, nothing), "");
  EXPECT_DEATH(workers->for_chunks(-1, 1, nothing), "");
}

}  // namespace
}  // namespace ingot
