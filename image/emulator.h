// Booting an image in QEMU: which words to start it with, and what its end means.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/image/network_settings.h"
#include "base/result.h"
#include "image/cast.h"
#include "image/emulator_network.h"
#include "image/escape_filter.h"

namespace ingot::image {

// By the file's first bytes.
Result<ImageFormat> format_of_image(const std::string& path);

// What the emulator inherits for a guest's accelerator: a connection to a broker, on which the machine's memory was
// handed over, and that memory, a file of so many bytes as the machine has.
struct AcceleratorEnds {
  int connection = -1;
  int memory = -1;
};

struct BootRequest {
  std::string image;
  std::optional<std::uint64_t> memory;  // bytes; nothing: what the image was cast for
  std::optional<std::uint32_t> cpus;
  std::optional<bool> uses_kvm;                 // nothing: where the machine has it
  bool waits_for_debugger = false;              // at debugger_port()
  bool counts_instructions = false;             // repeats bit by bit, and time is counted in instructions
  bool shows_log = false;                       // the kernel's log on standard error
  EscapeCodes escape_codes = EscapeCodes::all;  // of the console that reach standard output
  std::vector<std::string> options;             // words for the kernel
  std::vector<std::string> arguments;           // for the program, in place of the image's default ones
  std::string machine;                          // microvm, q35; empty: by what is granted
  std::string initrd;                           // a file that the loader brings beside the image; empty: none
  NetworkRequest network;
  // Makes those ends, once all else is right; empty: the machine has no accelerator.
  std::function<Result<AcceleratorEnds>(std::uint64_t memory)> accelerator{};
  std::function<void(std::string_view)> tell{};  // what whoever waits should know meanwhile; empty: nobody does
};

// What this machine offers.
inline constexpr int log_descriptor = 30;          // where the emulator finds the pipe for the kernel's log
inline constexpr int button_descriptor = 31;       // and where it is told that the power button is pressed
inline constexpr int accelerator_descriptor = 32;  // a connection to a broker
inline constexpr int memory_descriptor = 33;       // the machine's memory, where a broker has it, too
PublishedPort debugger_port();                     // where a debugger finds it: the emulator's -s

struct EmulatorHost {
  bool has_kvm = false;
  bool has_terminal = false;         // standard input is one
  std::string firmware{};            // OVMF's code, for disks
  std::string firmware_variables{};  // a copy of its variables that may be changed
  std::string log = "/dev/fd/" + std::to_string(log_descriptor);
  std::optional<int> button{};  // the descriptor; nothing: nobody presses it
  // Another processor than the guest's, which lets stores overtake stores: a guest's fences are kept only where the
  // emulator has several processors of it run side by side.
  bool reorders_stores = false;
};

struct EmulatorPlan {
  ImageFormat format = ImageFormat::elf;
  std::uint64_t memory = 0;
  std::uint64_t cpus = 1;
  std::string machine = "microvm";
  std::optional<NetworkSettings> network;  // nothing: the machine has none
  bool has_accelerator = false;
  bool has_pci() const { return machine != "microvm"; }  // a small one tells only by bytecode where its PCI is
};

// Where the request does not go with the image, the error is invalid_argument.
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
  // Whether it said that it listens to its power button: a press before that may be lost.
  bool has_button() const { return has_button_; }
  const std::deque<std::string>& last_lines() const { return lines_; }
  // What the kernel itself could not do, as it begins a program for example.
  const std::deque<std::string>& errors() const { return errors_; }

 private:
  void end_line();

  std::string line_, panic_;
  std::deque<std::string> lines_, errors_;
  std::optional<int> exit_code_;
  bool has_halted_ = false, has_button_ = false;
  bool continues_error_ = false;  // whether the line before was an error, or went on with one
};

// Boots, with our terminal as the guest's console. The program's exit code; an error where the guest ended without one.
// SIGTERM and SIGINT press the guest's power button, by which its program is told to end; a second one ends the
// machine, and both are told.
Result<int> boot(const BootRequest& request);

}  // namespace ingot::image
