#include "machine/guarded_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "machine/guard_watch.h"

namespace ingot {
namespace {

// Accesses that no compiler leaves out.
void read(const std::byte* address) { (void)*static_cast<const volatile std::byte*>(address); }
void write(std::byte* address) { *static_cast<volatile std::byte*>(address) = std::byte{1}; }

std::optional<Trespass> watched(GuardedMemory& memory, const auto& task) {
  GuardWatch watch(memory, StrayAccess::ends_program);
  task();
  return watch.trespass();
}

TEST(GuardedMemory, PiecesAreWritableFromGuardToGuard) {
  GuardedMemory memory;
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{3} << 20}) {
    Result<GuardedMemory::Piece> piece = memory.take(bytes);
    ASSERT_TRUE(piece.ok()) << piece.error().text();
    ASSERT_GE(piece.value().bytes().size(), std::max<std::size_t>(bytes, 1));
    EXPECT_FALSE(watched(memory, [&] { std::ranges::fill(piece.value().bytes(), std::byte{7}); }).has_value());
  }
}

TEST(GuardedMemory, APieceThatWasGivenBackIsHandedOutAgain) {
  GuardedMemory memory;
  const std::byte* first = memory.take(100).value().bytes().data();
  GuardedMemory::Piece again = memory.take(200).value();
  EXPECT_EQ(again.bytes().data(), first);
  EXPECT_NE(memory.take(200).value().bytes().data(), first);
}

TEST(GuardedMemory, AnAddressSpaceThatIsTooSmallIsAnError) {
  GuardedMemory memory;
  Result<GuardedMemory::Piece> beyond = memory.take(std::size_t{1} << 60);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().code(), ErrorCode::out_of_memory);
}

class GuardWatchTest : public testing::Test {
 protected:
  GuardedMemory memory_;
  GuardedMemory::Piece piece_ = memory_.take(10).value();
  std::byte* begin_ = piece_.bytes().data();
  std::byte* end_ = begin_ + piece_.bytes().size();
};

TEST_F(GuardWatchTest, NotesTheFirstByteOutsideAndGoesOn) {
  for (std::byte* address : {begin_ - 1, begin_ - 5000, end_, end_ + 5000}) {
    const std::optional<Trespass> seen = watched(memory_, [&] {
      read(address);
      read(end_ + 9000);
    });
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->address, address);
    EXPECT_EQ(seen->kind, AccessKind::read);
    EXPECT_TRUE(piece_.is_near(seen->address));
  }
}

TEST_F(GuardWatchTest, TellsAWriteFromARead) {
  const std::optional<Trespass> seen = watched(memory_, [&] { write(end_); });
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->kind, AccessKind::write);
}

TEST_F(GuardWatchTest, SeesEveryThread) {
  const std::optional<Trespass> seen = watched(memory_, [&] { std::thread([&] { read(end_ + 3); }).join(); });
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->address, end_ + 3);
}

TEST_F(GuardWatchTest, GuardsAreClosedAgainBehindATrespass) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(watched(memory_, [&] { write(begin_ - 1); }).has_value()) << round;
  }
}

using GuardWatchDeathTest = GuardWatchTest;

TEST_F(GuardWatchDeathTest, AStrayAccessEndsTheProgramWhereNobodyListens) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(watched(memory_, [] { read(reinterpret_cast<const std::byte*>(8)); }), "");
}

TEST_F(GuardWatchTest, AStrayAccessStopsItsThreadWhereSomebodyListens) {
  GuardWatch watch(memory_, StrayAccess::stops_thread);
  std::thread([] { read(reinterpret_cast<const std::byte*>(8)); }).detach();
  while (!watch.stray().has_value()) std::this_thread::yield();
  EXPECT_EQ(watch.stray()->address, reinterpret_cast<const std::byte*>(8));
  EXPECT_EQ(watch.stray()->kind, AccessKind::read);
}

}  // namespace
}  // namespace ingot
