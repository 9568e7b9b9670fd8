// ProgramDevice: a device that a program may have, if it is granted: /dev/NAME.
#pragma once

#include <cstdint>
#include <string_view>

#include "os/device/fixed_list.h"

namespace ingot::os {

class DeviceOpener;

struct ProgramDevice {
  std::string_view name;
  DeviceOpener* opener = nullptr;
  std::uint64_t number = 0;  // as make_device_number
};

inline constexpr std::size_t most_program_devices = 16;
using ProgramDevices = FixedList<ProgramDevice, most_program_devices>;

}  // namespace ingot::os
