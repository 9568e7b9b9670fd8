#include "train/record/run_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/files/mapped_file.h"
#include "model/files/test_files.h"
#include "train/record/run_line.h"

namespace ingot {
namespace {

RunStep some_step(std::int64_t step) {
  RunStep result{step, 1.0 / static_cast<double>(step), 0.1 * static_cast<double>(step), 3e-4, 4096 * step, 12345.678,
                 {}};
  if (step % 3 == 0) result.validation_loss = 2.0 / static_cast<double>(step);
  return result;
}

std::string log_text(const std::string& path) { return std::string(MappedFile::open(path).value().text()); }

TEST(RunLog, AppendedStepsReadBackExactly) {
  const TemporaryFolder folder;
  {
    RunLog log = RunLog::open(folder.file("log")).value();
    for (int step = 1; step <= 7; ++step) {
      ASSERT_TRUE(log.append(some_step(step)).ok());
      // Flushed: another reader sees it at once.
      EXPECT_EQ(read_run_log(folder.file("log")).value().size(), static_cast<std::size_t>(step));
    }
    EXPECT_FALSE(log.append(some_step(7)).ok()) << "steps ascend";
    EXPECT_EQ(log.steps().size(), 7u);
  }
  const std::vector<RunStep> steps = read_run_log(folder.file("log")).value();
  ASSERT_EQ(steps.size(), 7u);
  for (int step = 1; step <= 7; ++step) EXPECT_EQ(steps[static_cast<std::size_t>(step - 1)], some_step(step));
}

TEST(RunLog, ALineIsJsonWithNullForWhatIsNotFinite) {
  RunStep step{2, 0.5, std::numeric_limits<double>::infinity(), 0.25, 10, 1.5, {}};
  EXPECT_EQ(run_line(step),
            R"({"step":2,"loss":0.5,"gradient_norm":null,"learning_rate":0.25,"tokens_per_second":1.5,"tokens":10})");
  step.validation_loss = std::numeric_limits<double>::quiet_NaN();
  const RunStep read = read_run_line(run_line(step)).value();
  EXPECT_TRUE(std::isnan(read.gradient_norm));
  EXPECT_TRUE(std::isnan(read.validation_loss.value()));
}

TEST(RunLog, UnknownFieldsAreSkippedAndWrongOnesNamed) {
  const RunStep step =
      read_run_line(R"( {"note":"x","loss":1,"more":{"loss":[2,{"step":9}]},"step":3,"on":true} )").value();
  EXPECT_EQ(step.step, 3);
  EXPECT_EQ(step.loss, 1);
  const auto expect_bad = [](std::string_view line, std::string_view part) {
    const Result<RunStep> read = read_run_line(line);
    ASSERT_FALSE(read.ok()) << line;
    EXPECT_NE(read.error().text().find(part), std::string_view::npos) << read.error().text();
  };
  expect_bad(R"({"loss":1})", "expected step, found no such field");
  expect_bad(R"({"step":1})", "expected loss, found no such field");
  expect_bad(R"({"step":"1","loss":1})", "step: expected an integer of at least 0, found '1'");
  expect_bad(R"({"step":-1,"loss":1})", "step: expected an integer of at least 0, found -1");
  expect_bad(R"({"step":1.5,"loss":1})", "step: expected an integer of at least 0, found 1.5");
  expect_bad(R"({"step":null,"loss":1})", "step: expected an integer");
  expect_bad(R"({"step":18446744073709551615,"loss":1})", "found 18446744073709551615");
  expect_bad(R"({"step":1,"loss":[1]})", "loss: expected a number, found a list");
  expect_bad(R"({"step":1,"loss":true})", "loss: expected a number, found true");
  expect_bad(R"([1])", "expected an object, found a list");
  expect_bad(R"(7)", "expected an object, found a number");
  expect_bad("", "expected JSON");
  expect_bad(std::string(100000, '['), "expected an object");
  expect_bad(R"({"x":)" + std::string(100000, '['), "nested at most");
}

TEST(RunLog, ResumingCutsLaterStepsAndGoesOn) {
  const TemporaryFolder folder;
  {
    RunLog log = RunLog::open(folder.file("log")).value();
    for (int step = 1; step <= 10; ++step) ASSERT_TRUE(log.append(some_step(step)).ok());
  }
  {
    RunLog log = RunLog::open(folder.file("log"), 4).value();
    EXPECT_EQ(log.steps().size(), 4u);
    EXPECT_EQ(read_run_log(folder.file("log")).value().size(), 4u);
    ASSERT_TRUE(log.append(some_step(5)).ok());
  }
  const std::vector<RunStep> steps = read_run_log(folder.file("log")).value();
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps.back(), some_step(5));
  EXPECT_EQ(folder.file_count(), 1u);
  EXPECT_EQ(RunLog::open(folder.file("log"), 100).value().steps().size(), 5u) << "a log behind its checkpoint stays";
  EXPECT_EQ(RunLog::open(folder.file("log")).value().steps().size(), 0u) << "a new run begins anew";
  EXPECT_EQ(read_run_log(folder.file("log")).value().size(), 0u);
}

TEST(RunLog, ATornLastLineIsToleratedAndCut) {
  const TemporaryFolder folder;
  const std::string whole = run_line(some_step(1)) + "\n" + run_line(some_step(2)) + "\n";
  const std::string third = run_line(some_step(3));
  const auto expect_two = [&](const std::string& tail) {
    folder.write("log", whole + tail);
    EXPECT_EQ(read_run_log(folder.file("log")).value().size(), 2u) << tail;
    RunLog log = RunLog::open(folder.file("log"), 9).value();
    EXPECT_EQ(log_text(folder.file("log")), whole);
    ASSERT_TRUE(log.append(some_step(3)).ok());
    EXPECT_EQ(log_text(folder.file("log")), whole + third + "\n");
  };
  for (std::size_t length = 0; length < third.size(); length += 9) expect_two(third.substr(0, length));
  expect_two(third);
  expect_two(std::string(30, '\0') + "\n");
  folder.write("log", third.substr(0, 9));
  EXPECT_EQ(RunLog::open(folder.file("log"), 9).value().steps().size(), 0u);
}

TEST(RunLog, WhatIsNoLogIsRefusedAndLeftAlone) {
  const TemporaryFolder folder;
  const auto expect_refused_log = [&](const std::string& text, std::string_view part) {
    folder.write("log", text);
    const Result<RunLog> log = RunLog::open(folder.file("log"));
    ASSERT_FALSE(log.ok()) << part;
    EXPECT_NE(log.error().text().find(part), std::string_view::npos) << log.error().text();
    EXPECT_EQ(log_text(folder.file("log")), text);
  };
  const std::string first = run_line(some_step(1)) + "\n", second = run_line(some_step(2)) + "\n";
  expect_refused_log("an essay", "expected lines of JSON objects, found 'an essay'");
  expect_refused_log("an essay\n", "line 1: expected JSON");
  expect_refused_log("an essay\nof lines\n", "line 1: expected JSON");
  expect_refused_log(first + "{}\n" + second, "line 2: expected step");
  expect_refused_log(second + first, "line 2: expected a step above 2, found 1");
  EXPECT_FALSE(RunLog::open(folder.path()).ok());
  EXPECT_FALSE(read_run_log(folder.file("absent")).ok());
}

TEST(RunLog, AFullDiskLeavesWholeLines) {
  const TemporaryFolder folder;
  RunLog log = RunLog::open(folder.file("log")).value();
  ASSERT_TRUE(log.append(some_step(1)).ok());
  const std::string before = log_text(folder.file("log"));
  {
    const FileSizeLimit limit(before.size() + 20);
    const Result<void> appended = log.append(some_step(2));
    ASSERT_FALSE(appended.ok());
    EXPECT_EQ(appended.error().code(), ErrorCode::input_output);
  }
  EXPECT_EQ(log_text(folder.file("log")), before);
  ASSERT_TRUE(log.append(some_step(2)).ok());
  EXPECT_EQ(read_run_log(folder.file("log")).value().size(), 2u);
}

}  // namespace
}  // namespace ingot
