#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/bench_ladder.h"
#include "cli/command.h"
#include "cli/gpu_program.h"
#include "cli/machine_json.h"
#include "cli/terminal.h"
#include "kernels/linear/matmul/matmul.h"
#include "kernels/pick.h"
#include "profile/benchmark.h"
#include "profile/device_peaks.h"
#include "profile/report_html.h"

namespace ingot::bench_command {
namespace {

constexpr const char* examples =
    "Each variant is verified on the case before it is timed; one that fails parity gets no number. Rounds go through\n"
    "all variants in turn. 'spread' is half the interquartile range over the median, 'roof' the share of the least "
    "time\n"
    "this machine's measured peaks allow, 'x ref' the speedup over the scalar reference (~ where not significant).\n"
    "With --device, the rows of a GPU are timed by its own clock: launches follow one another, each on the next of as "
    "many\n"
    "copies of the tensors as its cache cannot hold. 'roof' is of peaks that are measured first, by matrix "
    "instructions "
    "that\n"
    "all these GPUs have; 'copy' is the share of the rate at which it copies its memory.\n"
    "\n"
    "Examples:\n"
    "  ingot bench norm.rms_norm                     every variant of one operation\n"
    "  ingot bench linear --threads 2                one family on two threads\n"
    "  ingot bench linear.matmul --ladder --threads 2  from the plain sum to the fastest variant\n"
    "  ingot bench model model.gguf                  a whole model: prefill, decode, memory\n"
    "  ingot bench linear --device cuda              the rows of the first GPU\n"
    "  ingot bench --quick --html report.html        everything, briefly, with a roofline plot\n"
    "  valgrind --tool=callgrind ingot bench norm.rms_norm --variant avx2 --iterations 10";

struct Options {
  std::string operation;
  std::string device = "cpu";
  BenchmarkOptions benchmark;
  std::string html;
  bool json = false;
  bool ladder = false;
};

bool is_on_device(const Options& options) { return options.device != "cpu"; }

void print_header(bool of_device) {
  std::string line = "operation                            variant        shape                      ";
  if (!of_device) line += "thr ";
  line += "     median  spread  GFLOP/s    GB/s   roof";
  line += of_device ? "   copy" : "    x ref";
  std::printf("%s\n", coloured(line, Colour::bold).c_str());
}

void print_row(const BenchmarkRow& row, bool of_device) {
  const std::string shape = row.shape.substr(0, 26);
  std::printf("%-36s %s%-*s %-26s ", row.operation.c_str(),
              coloured(row.variant, row.selected ? Colour::green : Colour::plain).c_str(),
              static_cast<int>(std::max<std::size_t>(14, row.variant.size()) - row.variant.size()), "", shape.c_str());
  if (!of_device) std::printf("%3d ", row.threads);
  if (!row.failure.empty()) {
    std::printf("%s\n", coloured("failed " + row.failure, Colour::red).c_str());
    return;
  }
  const double microseconds = row.summary.median / 1e3;
  std::printf("%9.2f us %5.1f%% %8.1f %7.1f %5.0f%%", microseconds, 100 * row.summary.spread, row.gflops,
              row.gbytes_per_second, row.roofline_percent);
  if (of_device) std::printf(" %5.0f%%", row.copy_percent);
  if (row.over_reference.speedup > 0) {
    std::printf(" %s%7.1f", row.over_reference.significant ? " " : "~", row.over_reference.speedup);
  }
  if (row.parallel_efficiency > 0) std::printf("  efficiency %.0f%%", 100 * row.parallel_efficiency);
  std::printf("\n");
}

nlohmann::json json_of(const BenchmarkRow& row, bool of_device) {
  nlohmann::json object = {
      {"operation", row.operation}, {"variant", row.variant}, {"shape", row.shape}, {"selected", row.selected}};
  if (!row.failure.empty()) {
    object["failure"] = row.failure;
    for (const char* key : {"median_ns", "spread", "gflops", "gbytes_per_second", "roofline_percent"}) {
      object[key] = nullptr;
    }
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
  if (of_device) {
    object["copy_percent"] = row.copy_percent;
    object["copies"] = row.copies;
    return object;
  }
  object["threads"] = row.threads;
  object["parallel_efficiency"] = row.parallel_efficiency;
  object["speedup_over_reference"] = row.over_reference.speedup;
  object["significant"] = row.over_reference.significant;
  return object;
}

// What was measured, and on what.
struct Report {
  Machine machine;
  std::optional<DeviceInformation> device = {};  // none: the host ran
  DevicePeaks peaks = {};                        // of what ran; of the host the rates alone
  std::vector<BenchmarkRow> rows = {};

  std::string_view processor() const { return device ? device->name : machine.cpu_model; }
};

std::vector<BenchmarkRow> run_all(Benchmark& benchmark, const std::vector<const Operation*>& operations) {
  std::vector<BenchmarkRow> rows;
  ProgressBar progress("measuring", static_cast<int>(operations.size()));
  for (const Operation* operation : operations) {
    progress.advance(operation->name);
    for (BenchmarkRow& row : benchmark.run(*operation)) rows.push_back(std::move(row));
  }
  return rows;
}

Result<Report> measure_host(const Options& options, const std::vector<const Operation*>& operations) {
  Report report{.machine = Machine::detect()};
  const auto workers = TRY(Workers::create({.threads = options.benchmark.threads}));
  report.peaks.rates = TRY(cached_peaks(report.machine, *workers));
  const KernelTable table = TRY(KernelTable::select(operations, report.machine.features));
  Benchmark benchmark = TRY(Benchmark::create(report.machine, table, report.peaks.rates, options.benchmark));
  report.rows = run_all(benchmark, operations);
  return report;
}

Result<Report> measure_device(const Options& options, const std::vector<const Operation*>& operations) {
  const std::unique_ptr<Device> device = TRY(open_device(options.device));
  Report report{.machine = Machine::detect(), .device = device->information()};
  const Processor processor = processor_of(*report.device);
  const KernelTable table = TRY(KernelTable::select(operations, processor));
  const std::unique_ptr<Queue> queue = TRY(device->make_queue());
  queue->name_step("a benchmark");
  DeviceClock clock = TRY(DeviceClock::create(*device, *queue));
  report.peaks = TRY(measure_device_peaks(*device, *queue));
  Benchmark benchmark = TRY(Benchmark::create(clock, table, report.peaks.rates, options.benchmark));
  report.rows = run_all(benchmark, operations);
  return report;
}

void print_json(const Report& report) {
  nlohmann::json document;
  document["machine"] = json_of(report.machine);
  if (report.device) {
    document["device"] = json_of(*report.device);
    document["device"]["peaks"] = json_of(report.peaks);
  } else {
    document["machine"]["peaks"] = json_of(report.peaks.rates);
  }
  document["rows"] = nlohmann::json::array();
  for (const BenchmarkRow& row : report.rows) document["rows"].push_back(json_of(row, report.device.has_value()));
  std::printf("%s\n", document.dump(1).c_str());
}

void print_text(const Report& report) {
  if (report.device) {
    std::printf("%s copies %.1f GB/s\n", coloured(report.device->name, Colour::bold).c_str(),
                report.peaks.rates.copy_bytes_per_second / 1e9);
  }
  print_header(report.device.has_value());
  for (const BenchmarkRow& row : report.rows) print_row(row, report.device.has_value());
}

// What the command line itself is to blame for.
Result<std::vector<const Operation*>> chosen_operations(const Options& options) {
  if (is_on_device(options) && options.ladder) {
    return Error::of(ErrorCode::invalid_argument, "--ladder: expected the device cpu, found '", options.device, "'");
  }
  const std::vector<const Operation*> operations = TRY(pick_operations(options.operation));
  if (!options.benchmark.variant.empty()) TRY(require_variant(operations, options.benchmark.variant));
  return operations;
}

int run(const Options& options) {
  const auto operations = chosen_operations(options);
  if (!operations.ok()) return refuse_usage(operations.error());
  if (options.ladder) {
    if (options.operation == Matmul::name) return run_ladder(options.benchmark.threads, options.json);
    print_error("--ladder: expected the operation linear.matmul, found '" + options.operation + "'");
    return exit_usage;
  }
  const auto report =
      is_on_device(options) ? measure_device(options, operations.value()) : measure_host(options, operations.value());
  if (!report.ok()) return finish_command(report.error());
  if (report.value().device) warn_of_times(*report.value().device);
  const std::vector<BenchmarkRow>& rows = report.value().rows;
  bool failed = rows.empty();
  for (const BenchmarkRow& row : rows) failed = failed || !row.failure.empty();
  if (options.json) {
    print_json(report.value());
  } else {
    print_text(report.value());
  }
  if (rows.empty()) {
    const std::string_view processor = report.value().processor();
    print_error(nothing_runs_there(options.operation, options.benchmark.variant, processor).text());
  }
  if (!options.html.empty()) {
    const Result<void> written =
        write_html_report(options.html, report.value().processor(), report.value().peaks.rates, rows);
    if (!written.ok()) return finish_command(written);
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
  add_device_option(command, options->device);
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
