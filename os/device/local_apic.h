// The local APIC: each CPU's own interrupt controller and timer (Intel SDM volume 3, chapter 10). Its registers are
// reached in memory (xAPIC) or as model-specific registers (x2APIC); everything else is the same.
#pragma once

#include <cstdint>

#include "os/device/registers.h"

namespace ingot::os {

// Every CPU sees its own registers at the same place, so one object serves all.
class LocalApicRegisters {
 public:
  virtual std::uint32_t read(std::uint32_t offset) const = 0;
  virtual void write(std::uint32_t offset, std::uint32_t value) = 0;
  // The command register: an interrupt for the APIC with this number.
  virtual void command(std::uint32_t destination, std::uint32_t command) = 0;
  virtual std::uint32_t id() const = 0;
  // Of those that a command can be for: one more means all.
  virtual std::uint32_t highest_id() const = 0;
  // This CPU's registers appear.
  virtual void turn_on() = 0;

 protected:
  ~LocalApicRegisters() = default;
};

class XApicRegisters final : public LocalApicRegisters {
 public:
  explicit XApicRegisters(Registers& registers) : registers_(registers) {}
  std::uint32_t read(std::uint32_t offset) const override { return registers_.read(offset); }
  void write(std::uint32_t offset, std::uint32_t value) override { registers_.write(offset, value); }
  void command(std::uint32_t destination, std::uint32_t command) override;
  std::uint32_t id() const override { return registers_.read(0x20) >> 24; }
  std::uint32_t highest_id() const override { return 0xfe; }
  void turn_on() override;

 private:
  Registers& registers_;
};

class X2ApicRegisters final : public LocalApicRegisters {
 public:
  std::uint32_t read(std::uint32_t offset) const override;
  void write(std::uint32_t offset, std::uint32_t value) override;
  void command(std::uint32_t destination, std::uint32_t command) override;
  std::uint32_t id() const override { return read(0x20); }
  std::uint32_t highest_id() const override { return 0xfffffffe; }
  void turn_on() override;
};

// What CPUID says about it.
struct LocalApicFeatures {
  bool present = false, x2apic = false, cycle_deadline = false;
  static LocalApicFeatures read();
};

class LocalApic {
 public:
  explicit LocalApic(LocalApicRegisters& registers) : registers_(registers) {}

  // On each CPU: from now on it takes interrupts. Its own lines stay masked, but for the non-maskable one.
  void enable();
  // Behind it: lets the 8259s through. Firmware that speaks of no APICs may have left their wire masked.
  void pass_8259s();
  std::uint32_t id() const { return registers_.id(); }
  std::uint32_t highest_id() const { return registers_.highest_id(); }
  void end_of_interrupt() { registers_.write(end_of_interrupt_at, 0); }

  void send(std::uint32_t destination, std::uint8_t vector) { registers_.command(destination, vector); }
  void send_non_maskable_to_others();
  // The two steps that start a CPU: reset it, then let it begin at a page below 1 MiB.
  void send_reset(std::uint32_t destination);
  void send_start(std::uint32_t destination, std::uint8_t page);

  // The timer: counts down once from `ticks`, or rings when the cycle counter reaches a value.
  enum class TimerMode : std::uint8_t { one_shot, cycle_deadline };
  void divide_timer();  // by one: its ticks are the bus's
  void set_timer(std::uint8_t vector, TimerMode mode);
  void start_timer(std::uint32_t ticks) { registers_.write(timer_initial_at, ticks); }
  std::uint32_t timer_ticks_left() const { return registers_.read(timer_current_at); }
  static void set_deadline(std::uint64_t cycles);

 private:
  static constexpr std::uint32_t end_of_interrupt_at = 0xb0, timer_initial_at = 0x380, timer_current_at = 0x390;

  LocalApicRegisters& registers_;
};

}  // namespace ingot::os
