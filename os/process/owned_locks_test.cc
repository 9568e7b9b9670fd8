#include "os/process/owned_locks.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace ingot::os {
namespace {

using namespace lock_word;

struct FakeWords final : LockWords {
  Answer<std::uint32_t> read(VirtualAddress word) override {
    if (!words.contains(word.value())) return Errno::efault;
    return words[word.value()];
  }
  Answer<std::uint32_t> exchange(VirtualAddress word, std::uint32_t expected, std::uint32_t wanted) override {
    if (!words.contains(word.value())) return Errno::efault;
    if (restless) words[word.value()] ^= 0x100;
    const std::uint32_t found = words[word.value()];
    if (found == expected) words[word.value()] = wanted;
    return found;
  }
  bool is_living(std::uint32_t thread) override { return !dead.contains(thread); }

  std::map<std::uint64_t, std::uint32_t> words;
  std::set<std::uint32_t> dead;
  bool restless = false;  // another thread changes every word meanwhile
};

struct LockSleeper final : OwnedLocks::Waiter {
  using Waiter::Waiter;
  void handed_over() override { owns = true; }
  bool owns = false;
};

class OwnedLocksTest : public ::testing::Test {
 protected:
  static constexpr VirtualAddress a{0x1000}, b{0x2000};

  OwnedLocksTest() { program.words = {{a.value(), 0}, {b.value(), 0}}; }
  ~OwnedLocksTest() override {
    for (LockSleeper& one : sleepers) give_up(one);
  }
  void give_up(LockSleeper& one) {
    if (one.is_linked()) locks.leave(one);
  }
  LockSleeper& sleeper(VirtualAddress word, std::uint32_t thread) { return sleepers.emplace_back(word, thread); }
  OwnedLocks::Outcome lock(LockSleeper& who) { return locks.lock(who).value(); }
  std::uint32_t word(VirtualAddress place) { return program.words[place.value()]; }

  static constexpr auto owned = OwnedLocks::Outcome::owned, waits = OwnedLocks::Outcome::waits;
  FakeWords program;
  OwnedLocks locks{program};
  std::deque<LockSleeper> sleepers;
};

TEST_F(OwnedLocksTest, AFreeOneIsTaken) {
  EXPECT_EQ(lock(sleeper(a, 7)), owned);
  EXPECT_EQ(word(a), 7u);
  EXPECT_TRUE(locks.unlock(a, 7).ok());
  EXPECT_EQ(word(a), 0u);
}

TEST_F(OwnedLocksTest, AreHandedOverInTheOrderOfArrival) {
  program.words[a.value()] = 1;  // taken without the kernel
  LockSleeper &second = sleeper(a, 2), &third = sleeper(a, 3);
  EXPECT_EQ(lock(second), waits);
  EXPECT_EQ(word(a), 1 | has_waiters);
  EXPECT_EQ(lock(third), waits);
  EXPECT_TRUE(locks.unlock(a, 1).ok());
  EXPECT_TRUE(second.owns && !third.owns);
  EXPECT_EQ(word(a), 2 | has_waiters);
  EXPECT_TRUE(locks.unlock(a, 2).ok());
  EXPECT_TRUE(third.owns);
  EXPECT_EQ(word(a), 3u);
}

TEST_F(OwnedLocksTest, BelongToTheirOwnerAlone) {
  program.words[a.value()] = 1;
  EXPECT_EQ(locks.unlock(a, 2).error(), Errno::eperm);
  EXPECT_EQ(locks.try_lock(a, 2).error(), Errno::eagain);
  EXPECT_EQ(locks.try_lock(a, 1).error(), Errno::edeadlk);
  EXPECT_TRUE(locks.try_lock(b, 2).ok());
  EXPECT_EQ(locks.unlock(VirtualAddress(0x3000), 1).error(), Errno::efault);
}

TEST_F(OwnedLocksTest, WhoGivesUpIsPassedOver) {
  program.words[a.value()] = 1;
  LockSleeper &second = sleeper(a, 2), &third = sleeper(a, 3);
  EXPECT_EQ(lock(second), waits);
  EXPECT_EQ(lock(third), waits);
  locks.leave(second);
  EXPECT_TRUE(locks.unlock(a, 1).ok());
  EXPECT_TRUE(third.owns && !second.owns);
  // The last one: its owner need not know.
  EXPECT_EQ(lock(sleeper(b, 1)), owned);
  LockSleeper& only = sleeper(b, 2);
  EXPECT_EQ(lock(only), waits);
  locks.leave(only);
  EXPECT_TRUE(locks.unlock(b, 1).ok());
  EXPECT_EQ(word(b), 0u);
}

TEST_F(OwnedLocksTest, ADeadlockIsRefusedAlsoThroughOthers) {
  program.words = {{a.value(), 1}, {b.value(), 2}};
  EXPECT_EQ(locks.lock(sleeper(a, 1)).error(), Errno::edeadlk);
  EXPECT_EQ(lock(sleeper(b, 1)), waits);
  EXPECT_EQ(locks.lock(sleeper(a, 2)).error(), Errno::edeadlk);
  EXPECT_EQ(lock(sleeper(a, 3)), waits);
}

TEST_F(OwnedLocksTest, AnOwnerThatIsGoneIsSaidToBe) {
  program.words[a.value()] = 9;
  program.dead = {9};
  EXPECT_EQ(locks.lock(sleeper(a, 1)).error(), Errno::esrch);
}

TEST_F(OwnedLocksTest, OfADeadOwnerGoToTheNextMarked) {
  program.words = {{a.value(), 1}, {b.value(), 1}};
  LockSleeper &second = sleeper(a, 2), &third = sleeper(a, 3), &fourth = sleeper(b, 4);
  for (LockSleeper* who : {&second, &third, &fourth}) EXPECT_EQ(lock(*who), waits);
  locks.owner_dies(1);
  EXPECT_TRUE(second.owns && !third.owns && fourth.owns);
  EXPECT_EQ(word(a), 2 | owner_died | has_waiters);
  EXPECT_EQ(word(b), 4 | owner_died);
}

TEST_F(OwnedLocksTest, OfADeadOwnerThatNobodyWaitsForStayMarked) {
  program.words[a.value()] = 1;
  locks.owner_dies(a, 1);
  EXPECT_EQ(word(a), owner_died);
  EXPECT_EQ(lock(sleeper(a, 5)), owned);
  EXPECT_EQ(word(a), 5 | owner_died);
}

// As musl does with the robust locks of a thread, before it ends: it is the kernel that knows who waits.
TEST_F(OwnedLocksTest, ThatTheirOwnerMarkedItselfGoToTheNext) {
  program.words[a.value()] = 1;
  program.words[b.value()] = 2;
  LockSleeper &second = sleeper(a, 2), &third = sleeper(a, 3);
  EXPECT_EQ(lock(second), waits);
  EXPECT_EQ(lock(third), waits);
  program.words[a.value()] = owner_died;
  EXPECT_EQ(locks.unlock(a, 1).error(), Errno::eperm);
  locks.owner_dies(1);
  EXPECT_TRUE(second.owns && !third.owns);
  EXPECT_EQ(word(a), 2 | has_waiters | owner_died);
  EXPECT_EQ(word(b), 2u);
  locks.owner_dies(b, 1);  // another's, and one that nobody waits for
  EXPECT_EQ(word(b), 2u);
  program.words[b.value()] = owner_died;
  locks.owner_dies(b, 1);
  EXPECT_EQ(word(b), owner_died);
}

TEST_F(OwnedLocksTest, AWordThatNeverStandsStillIsGivenUp) {
  program.words[a.value()] = 1;
  program.restless = true;
  EXPECT_EQ(locks.lock(sleeper(a, 0x201)).error(), Errno::eagain);
}

// Threads that lock, give up, unlock and die by chance: every lock has one owner, who is its word's, and whoever waits
// for a lock that has none was never left behind.
TEST_F(OwnedLocksTest, HoldByChance) {
  std::mt19937 random(1);
  std::vector<std::optional<LockSleeper>> threads(9);
  std::map<std::uint64_t, std::uint32_t> owners;
  for (int step = 0; step < 20000; ++step) {
    const std::uint32_t thread = 1 + random() % 8;
    const VirtualAddress place = random() % 2 == 0 ? a : b;
    std::optional<LockSleeper>& who = threads[thread];
    if (who && who->owns) {
      owners[who->word.value()] = thread;
      who.reset();
    }
    if (who) {
      if (random() % 8 != 0) continue;
      locks.leave(*who);
      who.reset();
    } else if (owners[place.value()] == thread) {
      owners[place.value()] = 0;
      if (random() % 4 == 0) {
        locks.owner_dies(place, thread);
      } else {
        ASSERT_TRUE(locks.unlock(place, thread).ok());
      }
    } else {
      who.emplace(place, thread);
      const Answer<OwnedLocks::Outcome> outcome = locks.lock(*who);
      if (outcome.ok() && outcome.value() == owned) owners[place.value()] = thread;
      if (!outcome.ok()) {
        ASSERT_EQ(outcome.error(), Errno::edeadlk);
      }
      if (!outcome.ok() || outcome.value() == owned) who.reset();
    }
    for (const VirtualAddress each : {a, b}) {
      std::uint32_t owner = owners[each.value()];
      bool awaited = false;
      for (const std::optional<LockSleeper>& other : threads) {
        if (!other || other->word != each) continue;
        if (other->owns) owner = other->thread;
        awaited = awaited || !other->owns;
      }
      ASSERT_EQ(word(each) & owner_mask, owner);
      ASSERT_TRUE(!awaited || owner != 0);
      ASSERT_TRUE(!awaited || (word(each) & has_waiters) != 0);
    }
  }
  for (std::optional<LockSleeper>& who : threads) {
    if (who) give_up(*who);
  }
}

}  // namespace
}  // namespace ingot::os
