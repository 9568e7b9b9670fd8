// The scripts that others wrote: all can be read, those whose answers can be replayed pass, and our stack passes most.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/network/ingot_stack.h"
#include "tests/network/replaying_stack.h"
#include "tests/network/script_folders.h"

namespace ingot::network_scripts {
namespace {

std::filesystem::path scripts_of(std::string_view suite) {
  const char* root = std::getenv("INGOT_OUTSIDE_DATA");
  return root == nullptr ? std::filesystem::path() : std::filesystem::path(root) / "tcp" / suite;
}

Tally tally_of(const std::vector<ScriptReport>& reports) {
  Tally all;
  for (const ScriptReport& report : reports) all.add(report.verdict);
  return all;
}

TEST(OutsideScripts, AreReadAndReplayed) {
  if (!std::filesystem::exists(scripts_of(""))) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no tcp";
  const std::vector<ScriptReport> reports = run_folder(scripts_of(""), {}, [](const Script& script) -> StackFactory {
    return [&script](const Environment& place) {
      return std::make_unique<ReplayingStack>(script, place, ReplayChanges{});
    };
  });
  for (const ScriptReport& report : reports) {
    EXPECT_NE(report.verdict.line == 0 ? report.verdict.kind : Verdict::Kind::passed, Verdict::Kind::failed)
        << report.path << " cannot be read: " << report.verdict.reason;
  }
  const Tally all = tally_of(reports);
  std::printf("%d scripts: %d replayed, %d not judged, %d that a replay cannot answer\n", all.count(), all.passed,
              all.not_judged, all.failed);
  EXPECT_GE(all.passed * 10, all.count() * 9);
}

// Shares of all scripts of a suite, those that are not judged among them.
TEST(OutsideScripts, PassWithOurStack) {
  constexpr std::pair<std::string_view, int> least_percents[] = {{"freebsd", 94}, {"packetdrill", 52}};
  for (const auto& [suite, least] : least_percents) {
    if (!std::filesystem::exists(scripts_of(suite))) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no tcp/" << suite;
    const Tally all = tally_of(run_folder(scripts_of(suite), {}, [](const Script&) -> StackFactory {
      return [](const Environment& place) { return std::make_unique<IngotStack>(place); };
    }));
    std::printf("%.*s: %d of %d passed, %d not judged\n", static_cast<int>(suite.size()), suite.data(), all.passed,
                all.count(), all.not_judged);
    EXPECT_GE(all.passed * 100, all.count() * least) << suite;
  }
}

}  // namespace
}  // namespace ingot::network_scripts
