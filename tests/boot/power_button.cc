// The power button: who listens is told that it was pressed.
//
// boot-test: success
// boot-test: monitor system_powerdown
// boot-test: expect power button: ready
// boot-test: expect power button: pressed
// boot-test: expect told of the press
#include "os/boot/kernel.h"

namespace ingot::os {

namespace {

struct Listener final : PowerButtonListener {
  void power_button_pressed() override { is_told.store(true, MemoryOrder::release); }
  Atomic<bool> is_told{false};
};

}  // namespace

void run_payload(Kernel& kernel) {
  Listener listener;
  kernel.devices.power_button().set_listener(&listener);
  kernel.log.information("waiting for the monitor");
  while (!listener.is_told.load(MemoryOrder::acquire)) current_scheduler().yield();
  kernel.devices.power_button().set_listener(nullptr);
  kernel.log.information("told of the press");
}

}  // namespace ingot::os
