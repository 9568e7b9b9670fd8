// Booting an image in QEMU: which words to start it with, and what its end means.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "image/cast.h"
#include "image/escape_filter.h"

namespace ingot::image {

// By the file's first bytes.
Result<ImageFormat> format_of_image(const std::string& path);

struct BootRequest {
  std::string image;
  std::optional<std::uint64_t> memory;  // bytes; nothing: what the image was cast for
  std::optional<std::uint32_t> cpus;
  std::optional<bool> uses_kvm;                 // nothing: where the machine has it
  bool waits_for_debugger = false;              // at TCP port 1234
  bool counts_instructions = false;             // repeats bit by bit, and time is counted in instructions
  bool shows_log = false;                       // the kernel's log on standard error
  EscapeCodes escape_codes = EscapeCodes::all;  // of the console that reach standard output
  std::vector<std::string> options;             // words for the kernel
  std::vector<std::string> arguments;           // for the program, in place of the image's default ones
};

// What this machine offers.
inline constexpr int log_descriptor = 30;  // where the emulator finds the pipe for the kernel's log

struct EmulatorHost {
  bool has_kvm = false;
  bool has_terminal = false;         // standard input is one
  std::string firmware{};            // OVMF's code, for disks
  std::string firmware_variables{};  // a copy of its variables that may be changed
  std::string log = "/dev/fd/" + std::to_string(log_descriptor);
};

struct EmulatorPlan {
  ImageFormat format = ImageFormat::elf;
  std::uint64_t memory = 0;
  std::uint64_t cpus = 1;
  bool has_pci = false;  // because the program is granted it
};

Result<EmulatorPlan> plan_boot(const BootRequest& request);
Result<std::vector<std::string>> emulator_words(const BootRequest& request, const EmulatorPlan& plan,
                                                const EmulatorHost& host);

// What `boot` would start on this machine; a disk's firmware is then given a copy of its variables.
struct BootCommand {
  EmulatorPlan plan;
  bool uses_kvm = false;
  std::vector<std::string> words;
};
Result<BootCommand> command_to_boot(const BootRequest& request);

// The kernel's log, line by line: its last line `exit N` carries the program's exit code, because the emulator's own
// status has 7 bits and a meaning of its own.
class KernelLog {
 public:
  void add(std::string_view piece);
  std::optional<int> exit_code() const { return exit_code_; }
  // The first line of a panic; empty where there was none.
  const std::string& panic() const { return panic_; }
  // Whether the kernel said that it found no way to switch the machine off: an emulator would wait for ever.
  bool has_halted() const { return has_halted_; }
  const std::deque<std::string>& last_lines() const { return lines_; }
  // What the kernel itself could not do, as it begins a program for example.
  const std::deque<std::string>& errors() const { return errors_; }

 private:
  void end_line();

  std::string line_, panic_;
  std::deque<std::string> lines_, errors_;
  std::optional<int> exit_code_;
  bool has_halted_ = false;
};

// Boots, with our terminal as the guest's console. The program's exit code; an error where the guest ended without one.
Result<int> boot(const BootRequest& request);

}  // namespace ingot::image
