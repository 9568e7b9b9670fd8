#include "server/line_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>

namespace ingot {
namespace {

class LineWriterTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  void TearDown() override {
    for (int& end : ends_) close(end);
  }
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  std::string read_all() {
    close(ends_[1]);
    std::string text;
    std::array<char, 4096> piece;
    while (const ssize_t count = ::read(ends_[0], piece.data(), piece.size())) {
      if (count < 0) break;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

  std::array<int, 2> ends_ = {-1, -1};
};

TEST_F(LineWriterTest, WritesAllLinesInOrderBeforeItEnds) {
  std::string expected;
  {
    LineWriter writer(ends_[1]);
    for (int line = 0; line < 100; ++line) {
      writer.add(std::to_string(line) + "\n");
      expected += std::to_string(line) + "\n";
    }
  }
  EXPECT_EQ(read_all(), expected);
}

// Neither adding nor ending waits for who does not read.
TEST_F(LineWriterTest, DropsAndCountsWhatNobodyReads) {
  const std::string line(1023, 'x');
  std::int64_t lost = 0;
  {
    LineWriter writer(ends_[1], std::chrono::milliseconds(1));
    for (int count = 0; count < 3000; ++count) writer.add(line + "\n");
    lost = writer.lost();
    EXPECT_GT(lost, 1000);
    EXPECT_LT(lost, 2500);
  }
  // Its thread still waits, and goes on where it was: no line is torn.
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() < static_cast<std::size_t>(3000 - lost) * 1024) {
    const ssize_t count = ::read(ends_[0], piece.data(), piece.size());
    ASSERT_GT(count, 0);
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  EXPECT_EQ(text.substr(text.size() - 1024), line + "\n");
}

TEST_F(LineWriterTest, CountsWhatCouldNotBeWritten) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  close(ends_[0]);
  LineWriter writer(ends_[1]);
  writer.add("nobody hears it\n");
  while (writer.lost() == 0) std::this_thread::yield();
  EXPECT_EQ(writer.lost(), 1);
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace ingot
