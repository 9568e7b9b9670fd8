#include "os/trace/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ingot::os {
namespace {

class Recorder final : public LogSink {
 public:
  void write_line(std::string_view line) override {
    EXPECT_FALSE(arch::interrupts_enabled());
    lines.emplace_back(line);
  }
  std::vector<std::string> lines;
};

std::vector<std::string> kept_of(const Log& log) {
  std::vector<std::string> lines;
  log.visit_kept([&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

TEST(Log, EverySinkGetsItsLevels) {
  Log log;
  Recorder all, severe;
  ASSERT_TRUE(log.add_sink(all, LogLevel::debug));
  ASSERT_TRUE(log.add_sink(severe, LogLevel::warning));
  log.debug("one ", 1);
  log.information("two ", Hexadecimal{0x2f}, " ", PhysicalAddress(0x1000));
  log.warning("three ", true);
  log.error(Error::of(ErrorCode::corrupt, "expected x, found y"));
  EXPECT_EQ(all.lines, (std::vector<std::string>{"debug: one 1", "two 0x2f 0x1000", "warning: three true",
                                                 "error: corrupt data: expected x, found y"}));
  EXPECT_EQ(severe.lines, (std::vector<std::string>{all.lines[2], all.lines[3]}));
  EXPECT_EQ(kept_of(log), all.lines);
  EXPECT_TRUE(arch::interrupts_enabled());
}

TEST(Log, KeepsTheLastLinesOnly) {
  Log log;
  for (std::size_t index = 0; index < Log::kept_lines + 7; ++index) log.information("line ", index);
  const std::vector<std::string> kept = kept_of(log);
  ASSERT_EQ(kept.size(), Log::kept_lines);
  EXPECT_EQ(kept.front(), "line 7");
  EXPECT_EQ(kept.back(), "line " + std::to_string(Log::kept_lines + 6));
}

TEST(Log, ALongLineGoesOnInTheNext) {
  Log log;
  const std::string words = std::string(60, 'a') + " " + std::string(60, 'b') + " " + std::string(60, 'c');
  log.warning(std::string_view(words), " ", -7, " ", Hexadecimal{0x2f}, " ", true);
  EXPECT_EQ(kept_of(log),
            (std::vector<std::string>{"warning: " + std::string(60, 'a'),
                                      "  " + std::string(60, 'b') + " " + std::string(60, 'c'), "  -7 0x2f true"}));
}

TEST(Log, AWordThatIsLongerThanALineIsCut) {
  Log log;
  log.information(std::string_view(std::string(300, 'x')));
  const std::vector<std::string> kept = kept_of(log);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0], std::string(Log::line_capacity, 'x'));
  EXPECT_EQ(kept[1], "  " + std::string(Log::line_capacity - 2, 'x'));
  EXPECT_EQ(kept[2], "  " + std::string(300 - 2 * Log::line_capacity + 2, 'x'));
}

TEST(Log, EveryLengthOfTextIsKeptWhole) {
  for (std::size_t first = 0; first < 2 * Log::line_capacity; ++first) {
    Log log;
    log.information(std::string_view(std::string(first, 'x')), " ", std::string_view(std::string(130, 'y')), INT64_MIN);
    std::string all;
    for (const std::string& line : kept_of(log)) {
      ASSERT_LE(line.size(), Log::line_capacity);
      for (const char letter : line) all += letter == ' ' ? "" : std::string(1, letter);
    }
    EXPECT_EQ(all, std::string(first, 'x') + std::string(130, 'y') + "-9223372036854775808");
  }
}

TEST(Log, OneSinkMoreThanFitIsRefused) {
  Log log;
  Recorder sink;
  for (std::size_t index = 0; index < Log::sink_capacity; ++index) EXPECT_TRUE(log.add_sink(sink, LogLevel::debug));
  EXPECT_FALSE(log.add_sink(sink, LogLevel::debug));
}

// A sink that panics while the lock is held stands for the CPU that faulted inside the log.
TEST(Log, APanicInsideTheLogStillSpeaksAndLeavesTheKeptLines) {
  class Panicking final : public LogSink {
   public:
    explicit Panicking(Log& log) : log_(log) {}
    void write_line(std::string_view line) override {
      lines.emplace_back(line);
      if (line != "last") return;
      log_.enter_panic();
      log_.write(LogLevel::panic, "the end");
    }
    std::vector<std::string> lines;

   private:
    Log& log_;
  };
  Log log;
  Panicking sink(log);
  log.add_sink(sink, LogLevel::information);
  log.information("first");
  log.information("last");
  EXPECT_EQ(sink.lines, (std::vector<std::string>{"first", "last", "panic: the end"}));
  EXPECT_EQ(kept_of(log), (std::vector<std::string>{"first", "last"}));
}

TEST(Format, WordsHaveSixteenDigits) {
  EXPECT_EQ(text_of(HexadecimalWord{0x1f}).view(), "000000000000001f");
  EXPECT_EQ(text_of(HexadecimalWord{~std::uint64_t{0}}).view(), "ffffffffffffffff");
  EXPECT_EQ(text_of(Hexadecimal{0}).view(), "0x0");
}

}  // namespace
}  // namespace ingot::os
