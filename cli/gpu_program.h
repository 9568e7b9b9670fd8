// ingot-gpu, the program that opens a GPU's driver: ingot becomes it where a command wants a GPU.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "machine/gpu/device.h"

namespace ingot {

// --device of a command: cpu, or a device's name.
Option add_device_option(const Command& command, std::string& device);

// Whether it is one of these, or an accelerator with the path of its socket; else what was expected.
Result<void> check_place_name(const std::string& name);
// The same option, of a command that takes accelerators as well.
Option add_place_option(const Command& command, std::string& device);

// Says of one that the CPU plays that its times mean nothing.
void warn_of_times(const DeviceInformation& device);

// Whether this program must become the other one for that device, which carries the code for devices.
bool needs_gpu_program(std::string_view device);

// Runs ingot-gpu, which lies beside this program, in its place and with its arguments. Comes back where it cannot.
Error become_gpu_program(char** arguments);

}  // namespace ingot
