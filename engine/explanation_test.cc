#include "engine/explanation.h"

#include <gtest/gtest.h>

#include "engine/explanation_html.h"
#include "engine/explanation_json.h"
#include "engine/golden_model.h"

namespace ingot {
namespace {

// A machine with round figures.
Peaks round_peaks() {
  return {.read_bytes_per_second = 1e10,
          .write_bytes_per_second = 1e10,
          .copy_bytes_per_second = 1e10,
          .cache_read_bytes_per_second = 1e11,
          .fma_flops = 1e11,
          .int8_dot_operations = 1e11,
          .threads = 1};
}

Explanation explained(const std::string& name, int repeats, bool rewrites = true) {
  const auto session = golden_session(name, {.context = 64, .rewrites = rewrites});
  if (session == nullptr) return {};
  Result<Explanation> result = explain(*session, {.tokens = 1, .depth = 3}, Machine::detect(), round_peaks(), repeats);
  if (result.ok()) return std::move(result).value();
  ADD_FAILURE() << result.error().text();
  return {};
}

// What a pass computes is known before it has run: a prompt's tokens see those before them, and read each once.
TEST(Explain, APromptsAttentionIsAPrefillOfKnownCost) {
  const auto session = golden_session("llama", {.context = 64});
  ASSERT_NE(session, nullptr);
  const Result<Explanation> explanation =
      explain(*session, {.tokens = 8, .depth = 5}, Machine::detect(), round_peaks(), 0);
  ASSERT_TRUE(explanation.ok()) << explanation.error().text();
  const Plan& plan = *session->plan_for({.runs = {8}, .outputs = 1}).value();
  std::int64_t found = 0;
  for (std::size_t step = 0; step < explanation.value().steps.size(); ++step) {
    if (explanation.value().steps[step].operation != "attention.prefill") continue;
    ++found;
    const auto size = [&](std::string_view field, int axis) {
      const Operation& operation = *plan.circuit().steps[step].operation;
      return static_cast<double>(plan.invocation(step).tensor(operation.field_index(field)).size(axis));
    };
    const double pairs = 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13;
    const double operations = pairs * size("q", 1) * (2 * (size("q", 2) + size("y", 2)) + 16);
    EXPECT_EQ(explanation.value().steps[step].cost.operations, operations);
    const double cached = 13 * size("k_pages", 1) * 4 * (size("q", 2) + size("y", 2));  // of f32
    EXPECT_EQ(explanation.value().steps[step].cost.bytes_read, cached + 4 * 8 * size("q", 1) * size("q", 2));
  }
  EXPECT_EQ(found, explanation.value().facts.layers);
}

TEST(Explain, SumsOfFamiliesAndOperationsAreTheWhole) {
  const Explanation explanation = explained("llama", 3);
  const Totals all = totals_of(explanation);
  ASSERT_GT(all.steps, 0);
  for (const auto& parts : {totals_by_family(explanation), totals_by_operation(explanation)}) {
    std::int64_t steps = 0;
    double seconds = 0;
    for (const Totals& part : parts) {
      steps += part.steps;
      seconds += part.measured_seconds;
    }
    EXPECT_EQ(steps, all.steps);
    EXPECT_NEAR(seconds, all.measured_seconds, 1e-9);
  }
}

TEST(Explain, FoldsLayersThatAreAlike) {
  const Explanation explanation = explained("llama", 0, false);
  const std::vector<LayerGroup> groups = folded(explanation);
  ASSERT_EQ(groups.size(), 3u);  // before, the layers, after
  EXPECT_EQ(groups[1].name, "blk.0-" + std::to_string(explanation.facts.layers - 1));
  EXPECT_EQ(groups[1].layers, explanation.facts.layers);
  std::int64_t steps = 0;
  for (const LayerGroup& group : groups) {
    for (const Totals& row : group.rows) steps += row.steps;
  }
  EXPECT_EQ(steps, static_cast<std::int64_t>(explanation.steps.size()));
}

TEST(Explain, BuffersThatLiveTogetherDoNotMeetAndFillTheArena) {
  const Explanation explanation = explained("llama", 0);
  std::int64_t end = 0;
  std::int64_t sum = 0;
  for (const ExplainedBuffer& left : explanation.buffers) {
    end = std::max(end, left.offset + left.bytes);
    sum += left.bytes;
    for (const ExplainedBuffer& right : explanation.buffers) {
      // A step that runs in place reads one buffer for the last time and writes the other over it.
      const bool is_handed_over = left.last == right.first || right.last == left.first;
      if (&left == &right || left.last < right.first || right.last < left.first) continue;
      if (is_handed_over && left.offset == right.offset) continue;
      EXPECT_TRUE(left.offset + left.bytes <= right.offset || right.offset + right.bytes <= left.offset)
          << left.name << " meets " << right.name;
    }
  }
  EXPECT_LE(end, explanation.arena_bytes);
  EXPECT_GT(end + arena_alignment, explanation.arena_bytes);
  EXPECT_LE(sum, explanation.unshared_bytes);
}

TEST(Explain, EveryStepHasALimitAndAReason) {
  for (const char* name : {"llama", "gemma2", "mixtral"}) {
    const Explanation explanation = explained(name, 0);
    for (const ExplainedStep& step : explanation.steps) {
      EXPECT_GT(step.least_seconds, 0) << step.name;
      EXPECT_FALSE(step.reason.empty()) << step.name;
      EXPECT_FALSE(step.shapes.empty()) << step.name;
      EXPECT_EQ(step.measured_seconds, 0) << step.name;
    }
  }
}

TEST(Explain, RewritesAreListedWithTheirCounts) {
  const auto names_and_counts = [](const Explanation& explanation) {
    std::string text;
    for (const AppliedRewrite& rewrite : explanation.rewrites) {
      text += std::string(rewrite.name) + " " + std::to_string(rewrite.count) + "\n";
    }
    return text;
  };
  const Explanation fused = explained("llama", 0);
  const std::string layers = std::to_string(fused.facts.layers);
  const std::string norms = std::to_string(2 * fused.facts.layers - 1);  // the head takes rows out before its norm
  EXPECT_EQ(names_and_counts(fused), "cache lowering " + layers + "\ngated activation " + layers + "\ngated product " +
                                         layers + "\njoint product " + layers + "\nresidual norm " + norms + "\n");
  EXPECT_EQ(names_and_counts(explained("llama", 0, false)), "cache lowering " + layers + "\n");
  EXPECT_EQ(names_and_counts(explained("mamba", 0, false)), "");
  EXPECT_NE(explanation_json(fused, -1).find("{\"count\":" + layers + ",\"name\":\"cache lowering\"}"),
            std::string::npos);
}

TEST(ExplanationPage, NamesEveryStepAndCannotBeLeftByAName) {
  Explanation explanation = explained("llama", 1);
  explanation.steps[0].name = "</script><b>\"\\";
  const std::string page = explanation_html("</script>\"", explanation);
  EXPECT_NE(page.find(explanation.steps.back().name), std::string::npos);
  // One script begins and one ends.
  EXPECT_EQ(page.find("</script>"), page.rfind("</script>"));
  EXPECT_EQ(page.find("http://", page.find("http://www.w3.org/2000/svg") + 1), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
}

TEST(ExplanationJson, WhatWasNotMeasuredIsNull) {
  const std::string json = explanation_json(explained("llama", 0), -1);
  EXPECT_NE(json.find("\"pass_us\":null"), std::string::npos);
  EXPECT_NE(json.find("\"measured_us\":null"), std::string::npos);
}

}  // namespace
}  // namespace ingot
