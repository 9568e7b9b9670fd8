// Devices: what the kernel found around itself. main.cc starts them in one call; one that is missing or broken is told
// in the log and left out.
#pragma once

#include <optional>

#include "base/result.h"
#include "os/device/framebuffer_text.h"
#include "os/device/keyboard.h"
#include "os/device/power_button.h"
#include "os/device/screen_console.h"
#include "os/device/vga_text.h"
#include "os/device/wall_clock.h"
#include "os/schedule/executor.h"
#include "os/schedule/kernel_thread.h"

namespace ingot::os {

struct Kernel;

class Devices {
 public:
  Devices() = default;
  Devices(const Devices&) = delete;  // the log points here
  Devices& operator=(const Devices&) = delete;

  void start(Kernel& kernel);

  // None: the machine does not know the date.
  const WallClock* wall_clock() const { return wall_clock_ ? &*wall_clock_ : nullptr; }
  Keyboard* keyboard() { return keyboard_ ? &*keyboard_ : nullptr; }
  PowerButton& power_button() { return power_button_; }

 private:
  Result<void> read_emulator_settings(Kernel& kernel);
  Result<void> start_power(Kernel& kernel);
  Result<void> start_power_button(Kernel& kernel);
  Result<void> start_wall_clock(Kernel& kernel);
  Result<void> start_screen(Kernel& kernel);
  Result<void> start_keyboard(Kernel& kernel);

  std::optional<WallClock> wall_clock_;
  std::optional<FramebufferText> framebuffer_;
  std::optional<VgaText> vga_;
  std::optional<ScreenConsole> screen_;
  std::optional<Keyboard> keyboard_;
  MappedRegisters power_events_;
  PowerButton power_button_;
  Executor executor_;  // of drivers' tasks
  std::optional<KernelThread> executor_thread_;
};

}  // namespace ingot::os
