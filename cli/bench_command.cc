#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bench_ladder.h"
#include "cli/command.h"
#include "cli/machine_json.h"
#include "cli/pick.h"
#include "cli/terminal.h"
#include "kernels/linear/matmul/matmul.h"
#include "profile/benchmark.h"
#include "profile/report_html.h"

namespace ingot::bench_command {
namespace {

constexpr const char* examples =
    "Each variant is verified on the case before it is timed; one that fails parity gets no number. Rounds go through\n"
    "all variants in turn. 'spread' is half the interquartile range over the median, 'roof' the share of the least "
    "time\n"
    "this machine's measured peaks allow, 'x ref' the speedup over the scalar reference (~ where not significant).\n"
    "\n"
    "Examples:\n"
    "  ingot bench norm.rms_norm                     every variant of one operation\n"
    "  ingot bench linear --threads 2                one family on two threads\n"
    "  ingot bench linear.matmul --ladder --threads 2  from the plain sum to the fastest variant\n"
    "  ingot bench model model.gguf                  a whole model: prefill, decode, memory\n"
    "  ingot bench --quick --html report.html        everything, briefly, with a roofline plot\n"
    "  valgrind --tool=callgrind ingot bench norm.rms_norm --variant avx2 --iterations 10";

struct Options {
  std::string operation;
  BenchmarkOptions benchmark;
  std::string html;
  bool json = false;
  bool ladder = false;
};

void print_header() {
  std::printf("%s\n", coloured("operation                            variant        shape                      thr"
                               "      median  spread  GFLOP/s    GB/s   roof    x ref",
                               Colour::bold)
                          .c_str());
}

void print_row(const BenchmarkRow& row) {
  const std::string shape = row.shape.substr(0, 26);
  std::printf("%-36s %s%-*s %-26s %3d ", row.operation.c_str(),
              coloured(row.variant, row.selected ? Colour::green : Colour::plain).c_str(),
              static_cast<int>(std::max<std::size_t>(14, row.variant.size()) - row.variant.size()), "", shape.c_str(),
              row.threads);
  if (!row.failure.empty()) {
    std::printf("%s\n", coloured("failed parity: " + row.failure, Colour::red).c_str());
    return;
  }
  const double microseconds = row.summary.median / 1e3;
  std::printf("%9.2f us %5.1f%% %8.1f %7.1f %5.0f%%", microseconds, 100 * row.summary.spread, row.gflops,
              row.gbytes_per_second, row.roofline_percent);
  if (row.over_reference.speedup > 0) {
    std::printf(" %s%7.1f", row.over_reference.significant ? " " : "~", row.over_reference.speedup);
  }
  if (row.parallel_efficiency > 0) std::printf("  efficiency %.0f%%", 100 * row.parallel_efficiency);
  std::printf("\n");
}

nlohmann::json json_of(const BenchmarkRow& row) {
  nlohmann::json object = {{"operation", row.operation},
                           {"variant", row.variant},
                           {"shape", row.shape},
                           {"threads", row.threads},
                           {"selected", row.selected}};
  if (!row.failure.empty()) {
    object["failure"] = row.failure;
    for (const char* key : {"median_ns", "spread", "gflops", "gbytes_per_second", "roofline_percent"})
      object[key] = nullptr;
    return object;
  }
  object["median_ns"] = row.summary.median;
  object["mean_ns"] = row.summary.mean;
  object["deviation_ns"] = row.summary.deviation;
  object["minimum_ns"] = row.summary.minimum;
  object["maximum_ns"] = row.summary.maximum;
  object["median_interval_ns"] = {row.median_interval.low, row.median_interval.high};
  object["samples"] = row.samples.size();
  object["spread"] = row.summary.spread;
  object["gflops"] = row.gflops;
  object["gbytes_per_second"] = row.gbytes_per_second;
  object["roofline_percent"] = row.roofline_percent;
  object["parallel_efficiency"] = row.parallel_efficiency;
  object["speedup_over_reference"] = row.over_reference.speedup;
  object["significant"] = row.over_reference.significant;
  return object;
}

Result<std::vector<BenchmarkRow>> measure(const Options& options, const std::vector<const Operation*>& operations,
                                          const Machine& machine, const Peaks& peaks) {
  const KernelTable table = TRY(KernelTable::select(operations, machine.features));
  Benchmark benchmark = TRY(Benchmark::create(machine, table, peaks, options.benchmark));
  std::vector<BenchmarkRow> rows;
  ProgressBar progress("measuring", static_cast<int>(operations.size()));
  for (const Operation* operation : operations) {
    progress.advance(operation->name);
    for (BenchmarkRow& row : benchmark.run(*operation)) rows.push_back(std::move(row));
  }
  return rows;
}

int run(const Options& options) {
  if (options.ladder) {
    if (options.operation == Matmul::name) return run_ladder(options.benchmark.threads, options.json);
    print_error("--ladder: expected the operation linear.matmul, found '" + options.operation + "'");
    return exit_usage;
  }
  const auto operations = pick_operations(options.operation);
  if (!operations.ok()) {
    print_error(operations.error().text());
    return exit_usage;
  }
  if (!options.benchmark.variant.empty()) {
    const Result<void> known = require_variant(operations.value(), options.benchmark.variant);
    if (!known.ok()) {
      print_error(known.error().text());
      return exit_usage;
    }
  }
  const Machine machine = Machine::detect();
  auto workers = Workers::create({.threads = options.benchmark.threads});
  if (!workers.ok()) {
    print_error(workers.error().text());
    return exit_usage;
  }
  const auto peaks = cached_peaks(machine, *workers.value());
  if (!peaks.ok()) {
    print_error(peaks.error().text());
    return exit_failure;
  }
  const auto rows = measure(options, operations.value(), machine, peaks.value());
  if (!rows.ok()) {
    print_error(rows.error().text());
    return exit_failure;
  }
  bool failed = rows.value().empty();
  for (const BenchmarkRow& row : rows.value()) failed = failed || !row.failure.empty();
  if (options.json) {
    nlohmann::json document;
    document["machine"] = json_of(machine);
    document["machine"]["peaks"] = json_of(peaks.value());
    document["rows"] = nlohmann::json::array();
    for (const BenchmarkRow& row : rows.value()) document["rows"].push_back(json_of(row));
    std::printf("%s\n", document.dump(1).c_str());
  } else {
    print_header();
    for (const BenchmarkRow& row : rows.value()) print_row(row);
    if (rows.value().empty()) print_error("expected operations with a benchmark case, found none");
  }
  if (!options.html.empty()) {
    const Result<void> written = write_html_report(options.html, machine, peaks.value(), rows.value());
    if (!written.ok()) {
      print_error(written.error().text());
      return exit_failure;
    }
    if (!options.json) std::printf("\nreport written to %s\n", options.html.c_str());
  }
  return failed ? exit_failure : exit_success;
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command =
      application.add_subcommand("bench", "time verified variants against the machine's own limits");
  command.footer(examples);
  command.add_option("OPERATION", options->operation, "an operation or a family; all where left out");
  command.add_option("--variant", options->benchmark.variant, "only the variant of this name");
  command.add_option("--threads", options->benchmark.threads, "worker threads").check(between(1, 1024));
  command
      .add_option("--iterations", options->benchmark.fixed_iterations,
                  "run each variant exactly this often instead of for a time (for instruction counters)")
      .check(between(1, 1000000));
  command.add_option("--html", options->html, "also write a page with a roofline plot");
  command.add_flag("--quick", options->benchmark.quick,
                   "one case an operation, the selected variant and the reference");
  command.add_flag("--ladder", options->ladder,
                   "of linear.matmul: from the plain sum to the fastest variant, the gain of each step and why");
  command.add_flag("--json", options->json, "machine-readable output");
  model_bench_command::add(command, exit_code);
  command.callback([options, command, &exit_code] {
    if (!command.has_parsed_subcommand()) exit_code = run(*options);
  });
}

}  // namespace ingot::bench_command
