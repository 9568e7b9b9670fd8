// Grants: what a manifest allows a program beyond what every program has.
#pragma once

#include <span>

#include "base/image/image_manifest.h"
#include "os/file/program_device.h"
#include "os/file/socket/socket_family.h"
#include "os/process/program_memory.h"

namespace ingot::os {

// Pages that are writable and executable at once.
inline constexpr std::string_view writable_code_right = "writable-executable";

struct Grants {
  WritableCode writable_code = WritableCode::refused;
  ProgramDevices devices;
  SocketFamilies families;
};

// The devices that this machine has for programs, and the families of sockets. A grant that names none of them is an
// error: a program that counts on a device shall not start without it.
Result<Grants> read_grants(const Manifest& manifest, std::span<const ProgramDevice> devices,
                           std::span<const SocketFamily> families);

}  // namespace ingot::os
