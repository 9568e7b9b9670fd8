// Keyboard: a PS/2 keyboard behind the PC's 8042. Its interrupt handler passes bytes on; a task makes keys of them.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/arch/arch.h"
#include "os/device/acpi_bytes.h"
#include "os/device/key_decoder.h"
#include "os/memory/allocator.h"
#include "os/schedule/channel.h"
#include "os/schedule/task.h"

namespace ingot::os {

// Whether the FADT speaks of an 8042; older tables do not say, and then there is one. `table` is the checked FADT.
bool has_keyboard_controller(TableBytes fadt);

class Keyboard {
 public:
  static constexpr std::uint8_t isa_interrupt = 1;
  using Events = Channel<KeyEvent, 64>;

  // The 8042 and the keyboard behind it. Fails where either does not answer in time. No interrupt arrives before
  // enable_interrupt().
  Result<void> initialise();
  Result<void> enable_interrupt();

  // Where keys arrive. Those that nobody fetches are lost when it is full.
  Events& events() { return events_; }

  // For InterruptTable: `context` is the keyboard.
  static void on_interrupt(void* context, arch::TrapFrame&);
  // Decodes until stop(); to be spawned once.
  Task<void> decode(Allocator& heap);
  void stop() { bytes_.close(); }

 private:
  Channel<std::uint8_t, 64> bytes_;
  Events events_;
};

}  // namespace ingot::os
