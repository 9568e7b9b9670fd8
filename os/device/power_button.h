// PowerButton: somebody wants the machine to end. Who listens is told; a press before that is kept.
#pragma once

#include <cstdint>
#include <optional>

#include "os/arch/arch.h"
#include "os/device/acpi_button.h"
#include "os/device/registers.h"
#include "os/schedule/locked.h"
#include "os/trace/log.h"

namespace ingot::os {

class PowerButtonListener {
 public:
  // In an interrupt handler, perhaps.
  virtual void power_button_pressed() = 0;

 protected:
  ~PowerButtonListener() = default;
};

class PowerButton {
 public:
  PowerButton() = default;
  PowerButton(const PowerButton&) = delete;  // the interrupt's handler points here
  PowerButton& operator=(const PowerButton&) = delete;

  struct Wiring {
    Log& log;
    InterruptController& controller;
    std::uint32_t line;
  };
  // Either, before the line is connected: by the fixed registers, whose other events are silenced, or by the word that
  // an event device tells. Without them nobody ever presses it.
  void start(const Wiring& wiring, const FixedButton& fixed);
  void start(const Wiring& wiring, Registers& events);

  // nullptr: nobody. After it the former one is not told any more.
  void set_listener(PowerButtonListener* listener);

  // For InterruptTable: `context` is the button.
  static void on_interrupt(void* context, arch::TrapFrame&);
  // Tells of a press, if there was one: false where there was none.
  bool look();

 private:
  struct State {
    PowerButtonListener* listener = nullptr;
    bool is_told = true;  // of the last press
  };
  bool take_press();

  std::optional<Wiring> wiring_;
  std::optional<FixedButton> fixed_;
  Registers* events_ = nullptr;
  std::uint32_t idle_interrupts_ = 0;
  Locked<State, SharedWith::interrupts> state_{LockRank::device};
};

}  // namespace ingot::os
