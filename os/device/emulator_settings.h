// What QEMU is given for its guest on its own command line (-fw_cfg name=opt/ingot/...): the way for words to reach a
// kernel whose loader, on a disk or a disc, has a command line of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace ingot::os {

// The device is two ports of an emulated machine: a selector, and the bytes of what was selected.
class EmulatorSettings {
 public:
  // Asks only under a hypervisor: on a real machine those ports may be anything.
  static bool present();

  // The text of a setting, read into `room`; nothing where it was not given. Fails if it is longer.
  static Result<std::optional<std::string_view>> read(std::string_view name, std::span<char> room);
};

}  // namespace ingot::os
