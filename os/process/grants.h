// Grants: what a manifest allows a program beyond what every program has.
#pragma once

#include <span>

#include "base/image/image_manifest.h"
#include "os/device/fixed_list.h"
#include "os/file/process_files.h"
#include "os/process/program_memory.h"

namespace ingot::os {

struct Grants {
  static constexpr std::size_t most_devices = 16;

  WritableCode writable_code = WritableCode::refused;
  FixedList<ProgramDevice, most_devices> devices;
};

// `offered`: the devices that this machine has for programs. A grant that names none of them is an error: a program
// that counts on a device shall not start without it.
Result<Grants> read_grants(const Manifest& manifest, std::span<const ProgramDevice> offered);

}  // namespace ingot::os
