#include "cli/gpu_program.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/terminal.h"
#include "machine/accelerator/accelerator_device.h"
#include "machine/gpu/cuda/driver.h"

namespace ingot {

namespace {

Result<void> check_device(const std::string& name) {
  if (name.starts_with("accelerator")) {
    return Error::of(
        ErrorCode::invalid_argument, "expected cpu, cuda, cuda:1 or the like, or emulated, found '",
        std::string_view(name),
        "': this command looks at rows, and which of them compute is for an accelerator's worker to choose");
  }
  return name == "cpu" ? Result<void>() : check_device_name(name);
}

}  // namespace

Result<void> check_place_name(const std::string& name) {
  if (accelerator_path(name).has_value()) return {};
  if (name.starts_with("accelerator")) {
    return Error::of(ErrorCode::invalid_argument, "expected the path of its socket behind accelerator:, found '",
                     std::string_view(name), "'");
  }
  const Result<void> known = check_device(name);
  if (known.ok()) return known;
  return Error::of(ErrorCode::invalid_argument,
                   "expected cpu, cuda, cuda:1 or the like, emulated, accelerator:SOCKET, or in a booted machine "
                   "accelerator, found '",
                   std::string_view(name), "'");
}

Option add_device_option(const Command& command, std::string& device) {
  return command
      .add_option("--device", device, "where it runs: cpu, cuda, cuda:N, or emulated, a GPU that the CPU plays")
      .check(accepted_by("", check_device))
      .capture_default_str();
}

Option add_place_option(const Command& command, std::string& device) {
  return command
      .add_option(
          "--device", device,
          "where it runs: cpu, cuda, cuda:N, emulated, a GPU that the CPU plays, accelerator:SOCKET, or accelerator, a "
          "booted machine's own")
      .check(accepted_by("", check_place_name))
      .capture_default_str();
}

void warn_of_times(const DeviceInformation& device) {
  if (device.is_emulated) print_warning("the emulated device is played by the CPU: its times say nothing of a GPU");
}

bool needs_gpu_program(std::string_view device) {
  return !device.empty() && device != "cpu" && !accelerator_path(device).has_value() && !cuda::opens_drivers();
}

Error become_gpu_program(char** arguments) {
  std::error_code failure;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) {
    return Error::of(ErrorCode::input_output, "expected /proc/self/exe to say where ingot-gpu may lie, found ",
                     std::string_view(failure.message()));
  }
  program.replace_filename("ingot-gpu");
  execv(program.c_str(), arguments);
  const int reason = errno;
  if (reason == ENOENT) {
    return Error::of(ErrorCode::not_found, "expected the program for GPUs beside this one, found no ",
                     std::string_view(program.native()), ": `make gpu` builds it");
  }
  return Error::of(ErrorCode::input_output, "expected to run ", std::string_view(program.native()), ", found ",
                   std::string_view(std::strerror(reason)));
}

}  // namespace ingot
