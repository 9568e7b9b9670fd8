#include "os/device/power_button.h"

namespace ingot::os {

namespace {
constexpr std::uint16_t fixed_power_button = 1u << 8;  // in status and enable registers alike
constexpr std::uint32_t most_idle_interrupts = 1000;
}  // namespace

void PowerButton::start(const Wiring& wiring, const FixedButton& fixed) {
  wiring_.emplace(wiring);
  fixed_ = fixed;
  for (const FixedButton::GeneralEvents& events : fixed.general_events) {
    for (std::uint8_t i = 0; i < events.count; ++i) {
      arch::write_port_8(static_cast<std::uint16_t>(events.first_enable_port + i), 0);
    }
  }
  for (const std::uint16_t port : fixed.enable_ports) {
    if (port != 0) arch::write_port_16(port, fixed_power_button);
  }
}

void PowerButton::start(const Wiring& wiring, Registers& events) {
  wiring_.emplace(wiring);
  events_ = &events;
}

void PowerButton::set_listener(PowerButtonListener* listener) {
  state_.with([&](State& state) {
    state.listener = listener;
    if (listener == nullptr || state.is_told) return;
    state.is_told = true;
    listener->power_button_pressed();
  });
}

// A device forgets what it was asked for; of registers a bit is cleared by writing it.
bool PowerButton::take_press() {
  if (events_ != nullptr) return (events_->read(0) & EventDevice::power_button) != 0;
  bool is_pressed = false;
  if (!fixed_) return false;
  for (const std::uint16_t port : fixed_->status_ports) {
    if (port == 0 || (arch::read_port_16(port) & fixed_power_button) == 0) continue;
    arch::write_port_16(port, fixed_power_button);
    is_pressed = true;
  }
  return is_pressed;
}

bool PowerButton::look() {
  return state_.with([&](State& state) {
    if (!take_press()) return false;
    wiring_->log.information("power button: pressed");
    state.is_told = state.listener != nullptr;
    if (state.is_told) state.listener->power_button_pressed();
    return true;
  });
}

void PowerButton::on_interrupt(void* context, arch::TrapFrame&) {
  auto& button = *static_cast<PowerButton*>(context);
  if (button.look()) {
    button.idle_interrupts_ = 0;
  } else if (++button.idle_interrupts_ == most_idle_interrupts) {
    // Something else holds the line, which nobody here can quiet: it must not keep the CPU.
    button.wiring_->controller.mask(button.wiring_->line);
    button.wiring_->log.warning(
        "power button: expected presses, found interrupts without one: not listened to any more");
  }
}

}  // namespace ingot::os
