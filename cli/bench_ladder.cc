#include "cli/bench_ladder.h"

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/machine_json.h"
#include "cli/terminal.h"
#include "profile/ladder.h"

namespace ingot {
namespace {

Result<Peaks> peaks_of(const Machine& machine, int threads) {
  const std::unique_ptr<Workers> workers = TRY(Workers::create({.threads = threads}));
  return cached_peaks(machine, *workers);
}

void print_rungs(const LadderShape& shape, const std::vector<LadderRung>& rungs) {
  std::printf("y = x W^T with x [%lld, %lld] and W [%lld, %lld]; docs/learn/ladder.md tells the whole story\n\n",
              static_cast<long long>(shape.rows), static_cast<long long>(shape.depth),
              static_cast<long long>(shape.columns), static_cast<long long>(shape.depth));
  std::printf("%s\n", coloured("rung       variant                  weights  thr       time  spread  GFLOP/s  gain",
                               Colour::bold)
                          .c_str());
  for (const LadderRung& rung : rungs) {
    std::printf("%-10s %-24s %-7s %4d %7.2f ms %6.1f%% %8.1f", std::string(rung.name).c_str(), rung.variant.c_str(),
                std::string(rung.weights).c_str(), rung.threads, rung.nanoseconds.median / 1e6,
                100 * rung.nanoseconds.spread, rung.gflops);
    if (!rung.builds_on.empty()) {
      std::printf("  %.1fx over %s", rung.gain, std::string(rung.builds_on).c_str());
    }
    std::printf("\n           %s", std::string(rung.reason).c_str());
    if (!rung.roof.empty()) {
      std::printf("\n           %.0f%% of what this machine's %s allow%s", 100 * rung.share_of_roof,
                  std::string(rung.roof).c_str(), rung.roof.starts_with("reading") ? "s" : "");
    }
    std::printf("\n");
  }
}

void print_json(const Machine& machine, const LadderShape& shape, const std::vector<LadderRung>& rungs) {
  nlohmann::json document = {{"machine", json_of(machine)},
                             {"rows", shape.rows},
                             {"columns", shape.columns},
                             {"depth", shape.depth},
                             {"rungs", nlohmann::json::array()}};
  for (const LadderRung& rung : rungs) {
    document["rungs"].push_back({{"name", rung.name},
                                 {"builds_on", rung.builds_on},
                                 {"reason", rung.reason},
                                 {"variant", rung.variant},
                                 {"weights", rung.weights},
                                 {"threads", rung.threads},
                                 {"median_ns", rung.nanoseconds.median},
                                 {"spread", rung.nanoseconds.spread},
                                 {"gflops", rung.gflops},
                                 {"gain", rung.gain},
                                 {"roof", rung.roof},
                                 {"share_of_roof", rung.share_of_roof}});
  }
  std::printf("%s\n", document.dump(1).c_str());
}

Result<void> climb(int threads, bool json) {
  const Machine machine = Machine::detect();
  const LadderPeaks peaks{TRY(peaks_of(machine, 1)), TRY(peaks_of(machine, threads))};
  const LadderShape shape;
  std::vector<LadderRung> rungs;
  {
    ProgressBar bar("climbing", 6);
    rungs = TRY(climb_ladder(machine, peaks, threads, shape, [&](std::string_view name) { bar.advance(name); }));
  }
  json ? print_json(machine, shape, rungs) : print_rungs(shape, rungs);
  return {};
}

}  // namespace

int run_ladder(int threads, bool json) { return finish_command(climb(threads, json)); }

}  // namespace ingot
