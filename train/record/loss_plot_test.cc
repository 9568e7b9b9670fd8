#include "train/record/loss_plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "model/files/mapped_file.h"
#include "model/files/test_files.h"
#include "train/record/chart.h"
#include "train/record/run_summary.h"

namespace ingot {
namespace {

std::vector<RunStep> a_run(std::int64_t count) {
  RandomNumbers numbers(3);
  std::vector<RunStep> steps;
  for (std::int64_t step = 1; step <= count; ++step) {
    const double part = static_cast<double>(step) / static_cast<double>(count);
    const double loss = 1.6 + 6 / (1 + 30 * part);
    RunStep one{step,
                loss + 0.12 * numbers.normal(),
                0.5 + 0.1 * std::fabs(numbers.normal()),
                1e-3 * (1 - part),
                4096 * step,
                40000,
                {}};
    if (step % std::max<std::int64_t>(count / 20, 1) == 0) one.validation_loss = loss + 0.1;
    steps.push_back(one);
  }
  return steps;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

TEST(LossPlot, APageStaysSmallHoweverLongTheRun) {
  const std::string page = loss_plot_html({"run", 100000, RunState::live}, a_run(100000));
  EXPECT_LT(page.size(), 120'000u);
  EXPECT_LT(loss_plot_html({"run", 100000, RunState::live}, a_run(2000)).size(), 120'000u);
}

TEST(LossPlot, OnlyALivePageLoadsItselfAnew) {
  const std::vector<RunStep> steps = a_run(50);
  constexpr std::string_view refresh = "<meta http-equiv=\"refresh\" content=\"5\">";
  EXPECT_EQ(count_of(loss_plot_html({"run", 60, RunState::live}, steps), refresh), 1u);
  EXPECT_EQ(count_of(loss_plot_html({"run", 60, RunState::finished}, steps), refresh), 0u);
  EXPECT_EQ(count_of(loss_plot_html({"run", 60, RunState::stopped}, steps), refresh), 0u);
}

TEST(LossPlot, TextsAreEscapedAndElementsClosed) {
  const std::string page = loss_plot_html({"<b>\"a&b\"</b>", 60, RunState::live}, a_run(50));
  EXPECT_EQ(page.find("<b>\"a"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;&quot;a&amp;b&quot;"), std::string::npos);
  for (std::string_view name : {"svg", "div", "g", "b", "span", "main", "header"}) {
    const std::string opened = "<" + std::string(name);
    EXPECT_EQ(count_of(page, opened + " ") + count_of(page, opened + ">"),
              count_of(page, "</" + std::string(name) + ">"))
        << name;
  }
}

TEST(LossPlot, AnyNumbersMakeAPage) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<double>::max();
  EXPECT_NE(loss_plot_html({"", 0, RunState::live}, {}).find("No step is done yet"), std::string::npos);
  for (double loss : {0.0, -1.0, nan, infinity, -infinity, largest, 5e-324}) {
    std::vector<RunStep> steps = {{1, loss, loss, loss, 0, loss, loss}};
    EXPECT_GT(loss_plot_html({"", 1, RunState::live}, steps).size(), 1000u);
    steps.push_back({std::numeric_limits<std::int64_t>::max(), -loss, 1, 1, 1, 1, {}});
    EXPECT_GT(loss_plot_html({"", 1, RunState::live}, steps).size(), 1000u);
  }
  std::vector<RunStep> steps = a_run(50);
  steps[7].loss = nan;
  EXPECT_NE(loss_plot_html({"", 60, RunState::live}, steps).find(">1 steps had a loss"), std::string::npos);
}

TEST(LossPlot, ThePageIsReplacedWhole) {
  const TemporaryFolder folder;
  for (std::int64_t count : {200, 10}) {
    const std::vector<RunStep> steps = a_run(count);
    ASSERT_TRUE(write_loss_plot(folder.file("p.html"), {"run", 300, RunState::live}, steps).ok());
    EXPECT_EQ(MappedFile::open(folder.file("p.html")).value().text(),
              loss_plot_html({"run", 300, RunState::live}, steps));
  }
  EXPECT_EQ(folder.file_count(), 1u);
  EXPECT_FALSE(write_loss_plot(folder.file("absent/p.html"), {}, {}).ok());
}

TEST(Curve, ThinningKeepsTheEndsOfEveryPart) {
  std::vector<CurvePoint> points;
  for (int x = 0; x < 100000; ++x) points.push_back({static_cast<double>(x), 1});
  points[54321].y = 9;
  points[54322].y = -9;
  const std::vector<CurvePoint> thin = thinned(points, 1000);
  EXPECT_LE(thin.size(), 1000u);
  EXPECT_GE(thin.size(), 500u);
  EXPECT_NE(std::ranges::find(thin, points[54321]), thin.end());
  EXPECT_NE(std::ranges::find(thin, points[54322]), thin.end());
  EXPECT_TRUE(std::ranges::is_sorted(thin, {}, &CurvePoint::x));
  EXPECT_EQ(thinned(std::span(points).first(1000), 1000).size(), 1000u);
  EXPECT_LE(thinned(points, 2).size(), 2u);
}

TEST(Curve, SmoothingKeepsConstantsAndDoesNotLag) {
  std::vector<CurvePoint> points;
  for (int x = 0; x < 500; ++x) points.push_back({static_cast<double>(x), 3});
  for (const CurvePoint& point : smoothed(points, 20)) EXPECT_NEAR(point.y, 3, 1e-12);
  for (CurvePoint& point : points) point.y = point.x;
  EXPECT_NEAR(smoothed(points, 20)[250].y, 250, 1e-4);
  EXPECT_EQ(smoothed(points, 1), points);
}

TEST(Chart, TicksAreRoundAndNumbersShort) {
  EXPECT_EQ(round_ticks(0.3, 4.2, 4), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(round_ticks(0, 4000, 8), (std::vector<double>{0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000}));
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(1234567), "1,234,567");
  EXPECT_EQ(short_number(-1234), "-1,234");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(2.5), "2.5");
  EXPECT_EQ(short_number(0.002), "0.002");
  EXPECT_EQ(short_number(0.00015), "0.00015");
  EXPECT_EQ(short_number(3.14159), "3.142");
  EXPECT_EQ(short_number(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(RunSummary, SaysWhatIsLeft) {
  std::vector<RunStep> steps = a_run(100);
  const RunSummary summary = summary_of(steps, 400);
  EXPECT_EQ(summary.step, 100);
  EXPECT_NEAR(summary.seconds_left.value(), 300 * 4096 / 40000.0, 1e-9);
  EXPECT_EQ(summary.best_validation_loss, summary.validation_loss);
  EXPECT_EQ(summary_of(steps, 50).seconds_left, 0);
  EXPECT_FALSE(summary_of({}, 50).loss.has_value());
  EXPECT_EQ(duration_text(44.6), "45 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(7500), "2 h 05 min");
  EXPECT_EQ(duration_text(3.2e5), "3 d 16 h");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "unknown");
}

}  // namespace
}  // namespace ingot
