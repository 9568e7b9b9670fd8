#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/gpu_program.h"
#include "cli/machine_json.h"
#include "cli/terminal.h"
#include "machine/gpu/cuda/device_list.h"
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
    "that came out too high. GPUs are listed by ingot-gpu, which ingot runs where --device cuda is given; then their "
    "peaks are\n"
    "measured, too: each time, for it takes less than a second.\n"
    "\n"
    "Examples:\n"
    "  ingot machine                what this machine is and can do\n"
    "  ingot machine --forget       measures as if for the first time\n"
    "  ingot machine --device cuda  its GPUs too; fails where none can be used\n"
    "  ingot machine --json         for scripts";

struct Options {
  std::string device = "cpu";
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

using Devices = Result<std::vector<DeviceInformation>>;

Devices find_devices(const std::string& device) {
  if (device == "emulated") return std::vector{TRY(open_device(device))->information()};
  const cuda::Driver driver = TRY(cuda::load_driver());
  return list_cuda_devices(driver);
}

// By the name that opens it.
std::string name_of(const DeviceInformation& device) {
  return device.is_emulated ? device.name : "cuda:" + std::to_string(device.index);
}

Result<DevicePeaks> peaks_of(const DeviceInformation& information) {
  const std::unique_ptr<Device> device = TRY(open_device(name_of(information)));
  const std::unique_ptr<Queue> queue = TRY(device->make_queue());
  return measure_device_peaks(*device, *queue);
}

// One for each of the devices.
using AllDevicePeaks = std::vector<Result<DevicePeaks>>;

void print_peaks(const DevicePeaks& peaks) {
  const Peaks& rates = peaks.rates;
  std::printf("             read %.0f GB/s, write %.0f GB/s, copy %.0f GB/s, L2 %.0f GB/s; upload %.1f GB/s\n",
              rates.read_bytes_per_second / 1e9, rates.write_bytes_per_second / 1e9, rates.copy_bytes_per_second / 1e9,
              rates.cache_read_bytes_per_second / 1e9, peaks.upload_bytes_per_second / 1e9);
  std::printf(
      "             f32 multiply-add %.1f TFLOP/s, bf16 matrix %.0f TFLOP/s, int8 matrix %.0f TOP/s; a launch %.2f "
      "us\n",
      rates.fma_flops / 1e12, rates.bf16_flops / 1e12, rates.int8_matrix_operations / 1e12, 1e6 * peaks.launch_seconds);
}

void print_devices(const Devices& devices, const AllDevicePeaks& peaks) {
  if (!cuda::opens_drivers()) {
    std::printf("  gpus       not looked for: ingot machine --device cuda shows them\n");
    return;
  }
  if (!devices.ok()) {
    std::printf("  gpus       none: %.*s\n", static_cast<int>(devices.error().text().size()),
                devices.error().text().data());
    return;
  }
  for (std::size_t index = 0; index < devices.value().size(); ++index) {
    const DeviceInformation& device = devices.value()[index];
    std::printf("  %-10s %s, %.1f GiB, %d multiprocessor%s, L2 %.0f MiB, compute capability %d.%d",
                name_of(device).c_str(), device.name.c_str(), static_cast<double>(device.memory_bytes) / (1 << 30),
                device.multiprocessors, device.multiprocessors == 1 ? "" : "s", mebibytes(device.level2_bytes),
                device.capability / 10, device.capability % 10);
    if (!device.is_emulated) {  // which has neither a driver nor a number of its own
      std::printf(", CUDA %d.%d", device.driver_version / 1000, device.driver_version % 1000 / 10);
    }
    std::printf("\n             ");
    if (!device.uuid.empty()) std::printf("%s, ", device.uuid.c_str());
    std::string features;
    for (const std::string& name : feature_names(device.features)) features += " " + name;
    std::printf("features%s\n", features.empty() ? " none" : features.c_str());
    if (index >= peaks.size()) continue;
    if (peaks[index].ok()) {
      print_peaks(peaks[index].value());
    } else {
      std::printf("             no peaks: %.*s\n", static_cast<int>(peaks[index].error().text().size()),
                  peaks[index].error().text().data());
    }
  }
}

nlohmann::json json_of_all(const Machine& machine, const std::vector<Peaks>& all, const Devices& devices,
                           const AllDevicePeaks& device_peaks) {
  nlohmann::json document = json_of(machine);
  document["peaks"] = nlohmann::json::array();
  for (const Peaks& peaks : all) document["peaks"].push_back(json_of(peaks));
  document["devices"] = nlohmann::json::array();
  if (devices.ok()) {
    for (const DeviceInformation& device : devices.value()) document["devices"].push_back(json_of(device));
    for (std::size_t index = 0; index < device_peaks.size(); ++index) {
      const Result<DevicePeaks>& peaks = device_peaks[index];
      document["devices"][index]["peaks"] = peaks.ok() ? json_of(peaks.value()) : nlohmann::json();
      if (!peaks.ok()) document["devices"][index]["peaks_error"] = peaks.error().text();
    }
  } else {
    document["devices_error"] = devices.error().text();
  }
  return document;
}

int run(const Options& options) {
  const Devices devices = find_devices(options.device);
  if (options.device != "cpu" && !devices.ok()) {
    print_error(devices.error().text());
    return exit_failure;
  }
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
  AllDevicePeaks device_peaks;
  if (options.device != "cpu") {
    for (const DeviceInformation& device : devices.value()) {
      device_peaks.push_back(peaks_of(device));
      warn_of_times(device);
    }
  }
  if (options.json) {
    std::printf("%s\n", json_of_all(machine, all, devices, device_peaks).dump(1).c_str());
    return exit_success;
  }
  print_machine(machine);
  print_devices(devices, device_peaks);
  for (const Peaks& peaks : all) print_peaks(peaks);
  return exit_success;
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command =
      application.add_subcommand("machine", "show the CPU, its features, caches and measured peaks");
  command.footer(examples);
  command
      .add_option("--device", options->device,
                  "cuda: the GPUs must be there, and are measured; emulated: the one that the CPU plays")
      .check(one_of({"cpu", "cuda", "emulated"}))
      .capture_default_str();
  command.add_flag("--measure", options->measure, "measure the peaks again; the larger rates are remembered");
  command.add_flag("--forget", options->forget, "forget the peaks that were remembered, and measure them anew");
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ingot::machine_command
