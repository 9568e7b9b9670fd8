#include "os/file/transfer.h"

#include "os/file/file_fixture.h"

namespace ingot::os {
namespace {

using file_fixture::HoledMemory;

std::span<const std::byte> bytes_of_text(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Transfer, SpreadsBytesOverPieces) {
  HoledMemory memory;
  const TransferPiece pieces[] = {{10, 2}, {0, 0}, {100, 3}, {200, 4}};
  Transfer transfer(memory, pieces);
  EXPECT_EQ(transfer.left(), 9u);
  EXPECT_EQ(transfer.give(bytes_of_text("abcdef")).value(), 6u);
  EXPECT_EQ(transfer.left(), 3u);
  EXPECT_EQ(transfer.give(bytes_of_text("ghijkl")).value(), 3u);
  EXPECT_EQ(transfer.give(bytes_of_text("more")).value(), 0u);
  EXPECT_EQ(std::string(&memory.bytes[10], 2), "ab");
  EXPECT_EQ(std::string(&memory.bytes[100], 3), "cde");
  EXPECT_EQ(std::string(&memory.bytes[200], 4), "fghi");
  EXPECT_EQ(transfer.moved(), 9u);
}

TEST(Transfer, CollectsBytesFromPieces) {
  HoledMemory memory;
  memory.bytes[5] = 'x';
  memory.bytes[9] = 'y';
  const TransferPiece pieces[] = {{5, 1}, {9, 1}};
  Transfer transfer(memory, pieces);
  std::byte two[2];
  EXPECT_EQ(transfer.take(two).value(), 2u);
  EXPECT_EQ(two[0], std::byte{'x'});
  EXPECT_EQ(two[1], std::byte{'y'});
}

TEST(Transfer, AFaultBeforeTheFirstByteIsEfaultAndLaterEndsTheCopy) {
  HoledMemory memory;
  memory.end = 12;
  const TransferPiece pieces[] = {{10, 4}};
  Transfer transfer(memory, pieces);
  EXPECT_EQ(transfer.give(bytes_of_text("abcd")).value(), 2u);
  EXPECT_EQ(transfer.give(bytes_of_text("cd")).error(), Errno::efault);
  EXPECT_EQ(transfer.give_zeros(0).value(), 0u);
}

TEST(Transfer, ZerosAndShortening) {
  HoledMemory memory;
  std::fill(memory.bytes.begin(), memory.bytes.end(), 'z');
  const TransferPiece pieces[] = {{0, 1000}};
  Transfer transfer(memory, pieces);
  transfer.shorten(700);
  EXPECT_EQ(transfer.give_zeros(5000).value(), 700u);
  EXPECT_EQ(memory.bytes[699], 0);
  EXPECT_EQ(memory.bytes[700], 'z');
}

TEST(Transfer, GoesOnBehindWhatWasMoved) {
  HoledMemory memory;
  const TransferPiece pieces[] = {{10, 2}, {0, 0}, {100, 3}};
  Transfer transfer(memory, pieces);
  transfer.skip(3);
  EXPECT_EQ(transfer.left(), 2u);
  EXPECT_EQ(transfer.give(bytes_of_text("abc")).value(), 2u);
  EXPECT_EQ(std::string(&memory.bytes[101], 2), "ab");
  Transfer all(memory, pieces);
  all.skip(100);
  EXPECT_EQ(all.give(bytes_of_text("x")).value(), 0u);
}

// Goes on as often as it is told to.
struct PatientMemory final : TransferMemory {
  int turns = 0;
  int asked = 0;

  std::size_t copy_out(std::uint64_t, std::span<const std::byte> from) override { return from.size(); }
  std::size_t copy_in(std::span<std::byte> to, std::uint64_t) override { return to.size(); }
  std::size_t clear(std::uint64_t, std::size_t bytes) override { return bytes; }
  bool may_go_on() override { return ++asked <= turns; }
};

TEST(Transfer, AsksBetweenThePiecesOfALongOne) {
  PatientMemory memory;
  memory.turns = 100;
  const TransferPiece pieces[] = {{0, 10 * Transfer::piece_bytes}};
  Transfer transfer(memory, pieces);
  EXPECT_EQ(transfer.give_zeros(transfer.left()).value(), 10 * Transfer::piece_bytes);
  EXPECT_EQ(memory.asked, 9);
}

TEST(Transfer, EndsWithWhatWasMovedWhenItMayNotGoOn) {
  PatientMemory memory;
  memory.turns = 2;
  const TransferPiece pieces[] = {{0, 10 * Transfer::piece_bytes}};
  Transfer transfer(memory, pieces);
  EXPECT_EQ(transfer.give_zeros(transfer.left()).value(), 3 * Transfer::piece_bytes);
  EXPECT_EQ(transfer.left(), 0u);
  EXPECT_EQ(transfer.moved(), 3 * Transfer::piece_bytes);
}

TEST(Transfer, IsNotAskedWhileAPartIsHeldBack) {
  struct Asked final : TransferMemory {
    std::size_t copy_out(std::uint64_t, std::span<const std::byte> from) override { return from.size(); }
    std::size_t copy_in(std::span<std::byte> to, std::uint64_t) override { return to.size(); }
    bool may_go_on() override {
      ++times;
      return goes_on;
    }
    int times = 0;
    bool goes_on = true;
  } memory;
  constexpr std::uint64_t part = Transfer::piece_bytes / 2;
  const std::vector<std::byte> bytes(part);
  std::vector<TransferPiece> pieces(400, {0, 1000});
  Transfer transfer(memory, pieces);
  for (int turn = 1; turn <= 3; ++turn) {
    EXPECT_TRUE(transfer.hold_back(part));
    for (std::uint64_t done = 0; done < part; done += 1024)
      EXPECT_EQ(transfer.give(std::span(bytes).first(1024)).value(), 1024u);
    EXPECT_EQ(transfer.left(), 0u);
    EXPECT_EQ(memory.times, turn - 1);
    EXPECT_TRUE(transfer.bring_back());
    EXPECT_EQ(memory.times, turn);
  }
  EXPECT_EQ(transfer.left(), 400'000 - 3 * part);
  EXPECT_TRUE(transfer.hold_back(part));
  EXPECT_EQ(transfer.give(bytes).value(), part);
  memory.goes_on = false;
  EXPECT_FALSE(transfer.bring_back());
  EXPECT_EQ(transfer.left(), 0u);
}

TEST(Transfer, AShortGiveIsNeverCutApart) {
  PatientMemory memory;
  const TransferPiece pieces[] = {{0, Transfer::piece_bytes - 1}, {0, 100}, {0, Transfer::piece_bytes}};
  Transfer transfer(memory, pieces);
  const std::vector<std::byte> bytes(Transfer::piece_bytes - 10);
  EXPECT_EQ(transfer.give(bytes).value(), bytes.size());
  EXPECT_EQ(transfer.give(std::span(bytes).first(50)).value(), 50u);
  EXPECT_EQ(memory.asked, 1);
  EXPECT_EQ(transfer.left(), 0u);
}

TEST(Transfer, ReadsAndWritesValues) {
  HoledMemory memory;
  ASSERT_TRUE(memory.write(40, std::uint32_t{77}).ok());
  EXPECT_EQ(memory.read<std::uint32_t>(40).value(), 77u);
  memory.end = 42;
  EXPECT_EQ(memory.read<std::uint32_t>(40).error(), Errno::efault);
  EXPECT_EQ(memory.write(40, std::uint32_t{1}).error(), Errno::efault);
}

}  // namespace
}  // namespace ingot::os
