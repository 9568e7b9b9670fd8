#include "os/device/local_apic.h"

#include "base/atomic.h"
#include "os/arch/arch.h"
#include "os/interrupt/vectors.h"

namespace ingot::os {

namespace {

constexpr std::uint32_t task_priority = 0x80, spurious_vector = 0xf0, command_low = 0x300, command_high = 0x310,
                        local_timer = 0x320, local_line_0 = 0x350, local_line_1 = 0x360, local_error = 0x370,
                        timer_divide = 0x3e0;
constexpr std::uint32_t masked = 1u << 16, non_maskable = 4u << 8, external = 7u << 8, reset = 5u << 8, start = 6u << 8,
                        assert = 1u << 14, to_all_others = 3u << 18, delivery_pending = 1u << 12;

// IA32_APIC_BASE: whether the registers are there, and which kind.
constexpr std::uint32_t base_register = 0x1b;
constexpr std::uint64_t is_on = 1u << 11, as_model_registers = 1u << 10;

constexpr std::uint32_t model_register(std::uint32_t offset) { return 0x800 + (offset >> 4); }

}  // namespace

void XApicRegisters::turn_on() {
  arch::write_model_register(base_register, arch::read_model_register(base_register) | is_on);
}

// Two registers make one command: no handler may send between them, and the last one must have left.
void XApicRegisters::command(std::uint32_t destination, std::uint32_t command) {
  const InterruptsOff quiet;
  while ((registers_.read(command_low) & delivery_pending) != 0) arch::pause();
  registers_.write(command_high, destination << 24);
  registers_.write(command_low, command);
}

void X2ApicRegisters::turn_on() {
  arch::write_model_register(base_register, arch::read_model_register(base_register) | is_on | as_model_registers);
}
std::uint32_t X2ApicRegisters::read(std::uint32_t offset) const {
  return static_cast<std::uint32_t>(arch::read_model_register(model_register(offset)));
}
void X2ApicRegisters::write(std::uint32_t offset, std::uint32_t value) {
  arch::write_model_register(model_register(offset), value);
}
// These writes wait for nothing before them: what the other CPU is to find must be visible first.
void X2ApicRegisters::command(std::uint32_t destination, std::uint32_t command) {
  atomic_fence(MemoryOrder::sequentially_consistent);
  arch::write_model_register(model_register(command_low), std::uint64_t{destination} << 32 | command);
}

LocalApicFeatures LocalApicFeatures::read() {
  const arch::CpuidResult features = arch::cpuid(1);
  return {(features.edx & 1u << 9) != 0, (features.ecx & 1u << 21) != 0, (features.ecx & 1u << 24) != 0};
}

void LocalApic::enable() {
  registers_.turn_on();
  registers_.write(local_timer, masked);
  registers_.write(local_line_0, masked);        // the 8259s, where they are still wired to it
  registers_.write(local_line_1, non_maskable);  // on every PC
  registers_.write(local_error, masked);
  registers_.write(task_priority, 0);
  constexpr std::uint32_t enabled = 1u << 8;
  registers_.write(spurious_vector, enabled | vectors::spurious);
}

void LocalApic::pass_8259s() { registers_.write(local_line_0, external); }

void LocalApic::send_non_maskable_to_others() { registers_.command(0, to_all_others | assert | non_maskable); }
void LocalApic::send_reset(std::uint32_t destination) { registers_.command(destination, assert | reset); }
void LocalApic::send_start(std::uint32_t destination, std::uint8_t page) {
  registers_.command(destination, assert | start | page);
}

void LocalApic::divide_timer() {
  constexpr std::uint32_t by_one = 0xb;
  registers_.write(timer_divide, by_one);
}

void LocalApic::set_timer(std::uint8_t vector, TimerMode mode) {
  constexpr std::uint32_t by_deadline = 2u << 17;
  divide_timer();
  registers_.write(local_timer, vector | (mode == TimerMode::cycle_deadline ? by_deadline : 0));
  // The write must have happened before the first deadline is set (10.5.4.1).
  atomic_fence(MemoryOrder::sequentially_consistent);
}

void LocalApic::set_deadline(std::uint64_t cycles) {
  constexpr std::uint32_t deadline_register = 0x6e0;
  arch::write_model_register(deadline_register, cycles);
}

}  // namespace ingot::os
