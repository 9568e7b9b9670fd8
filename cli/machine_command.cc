#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/machine_json.h"
#include "cli/terminal.h"
#include "machine/peaks_cache.h"

namespace ingot::machine_command {
namespace {

constexpr const char* examples =
    "A feature is listed only when the CPU reports it and the operating system enabled it. Peaks are measured once "
    "and\n"
    "remembered for this CPU. --measure measures again and keeps the larger of each rate, since what other programs "
    "took\n"
    "of a measurement is missing in it; one that was made under load says so. --forget forgets all rates first, for "
    "one\n"
    "that came out too high.\n"
    "\n"
    "Examples:\n"
    "  ingot machine                what this machine is and can do\n"
    "  ingot machine --forget       measures as if for the first time\n"
    "  ingot machine --json         for scripts";

struct Options {
  bool json = false;
  bool measure = false;
  bool forget = false;
};

Result<Peaks> peaks_of(const Machine& machine, int threads, bool anew) {
  const auto workers = TRY(Workers::create({.threads = threads}));
  if (anew) return peaks_measured_again(machine, *workers);
  return cached_peaks(machine, *workers);
}

void print_peaks(const Peaks& peaks) {
  std::printf("  %d thread%s: read %.1f GB/s, write %.1f GB/s, copy %.1f GB/s, first-level cache %.0f GB/s\n",
              peaks.threads, peaks.threads == 1 ? "" : "s", peaks.read_bytes_per_second / 1e9,
              peaks.write_bytes_per_second / 1e9, peaks.copy_bytes_per_second / 1e9,
              peaks.cache_read_bytes_per_second / 1e9);
  std::printf(
      "             f32 multiply-add %.0f GFLOP/s, bf16 %.0f GFLOP/s, int8 dot %.0f GOP/s, int8 matrix %.0f GOP/s\n",
      peaks.fma_flops / 1e9, peaks.bf16_flops / 1e9, peaks.int8_dot_operations / 1e9,
      peaks.int8_matrix_operations / 1e9);
  if (peaks.is_disturbed()) {
    std::printf("             measured under a load of %.2f: perhaps too low; --measure again when the machine rests\n",
                peaks.load);
  }
}

void print_machine(const Machine& machine) {
  std::printf("%s (%s)\n", coloured(machine.cpu_model, Colour::bold).c_str(),
              std::string(name_of(machine.architecture)).c_str());
  std::printf("  cpus       %d online, %d usable by this process\n", machine.online_cpus, machine.usable_cpus);
  std::printf("  memory     %.1f GiB\n", static_cast<double>(machine.memory.count()) / (1 << 30));
  for (const Cache& cache : machine.caches) {
    std::printf("  L%d %-11s %llu KiB, lines of %d bytes, shared by %d\n", cache.level,
                std::string(name_of(cache.kind)).c_str(), static_cast<unsigned long long>(cache.size.count() >> 10),
                cache.line_bytes, cache.shared_by_cpus);
  }
  std::string features;
  for (const std::string& name : feature_names(machine.features)) features += " " + name;
  std::printf("  features  %s\n", features.c_str());
}

int run(const Options& options) {
  if (options.forget) {
    const Result<void> forgotten = forget_peaks();
    if (!forgotten.ok()) return finish_command(forgotten);
  }
  const Machine machine = Machine::detect();
  std::vector<Peaks> all;
  {
    ProgressBar progress("measuring", 2);
    for (int threads : {1, machine.usable_cpus}) {
      if (threads == 1 && !all.empty()) continue;
      progress.advance("peaks with " + std::to_string(threads) + " threads");
      auto peaks = peaks_of(machine, threads, options.measure);
      if (!peaks.ok()) {
        print_error(peaks.error().text());
        return exit_failure;
      }
      all.push_back(peaks.value());
    }
  }
  if (options.json) {
    nlohmann::json document = json_of(machine);
    document["peaks"] = nlohmann::json::array();
    for (const Peaks& peaks : all) document["peaks"].push_back(json_of(peaks));
    std::printf("%s\n", document.dump(1).c_str());
    return exit_success;
  }
  print_machine(machine);
  for (const Peaks& peaks : all) print_peaks(peaks);
  return exit_success;
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command =
      application.add_subcommand("machine", "show the CPU, its features, caches and measured peaks");
  command.footer(examples);
  command.add_flag("--measure", options->measure, "measure the peaks again; the larger rates are remembered");
  command.add_flag("--forget", options->forget, "forget the peaks that were remembered, and measure them anew");
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ingot::machine_command
