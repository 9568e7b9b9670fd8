// The lines of devices reach their handlers, again and again, and a masked one does not. By the APICs, or by the 8259s
// where the CPU has no APIC.
//
// boot-test: success
// boot-test: expect interrupts: by
// boot-test: expect clock: 5 ticks
// boot-test: expect clock: masked, no ticks
// boot-test: expect message: arrived, or cannot
#include "os/arch/arch.h"
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

// The PC's clock can beat: every PC has it, on line 8, behind the second 8259.
constexpr std::uint16_t select = 0x70, data = 0x71;
constexpr std::uint8_t register_a = 10, register_b = 11, register_c = 12;

std::uint8_t read_clock(std::uint8_t which) {
  arch::write_port_8(select, which);
  return arch::read_port_8(data);
}
void write_clock(std::uint8_t which, unsigned value) {
  arch::write_port_8(select, which);
  arch::write_port_8(data, static_cast<std::uint8_t>(value));
}

Atomic<std::uint32_t> ticks;

void count(void*, arch::TrapFrame&) { ticks.fetch_add(1, MemoryOrder::relaxed); }
void on_beat(void*, arch::TrapFrame& frame) {
  read_clock(register_c);  // else it does not beat again
  count(nullptr, frame);
}

void wait_for_ticks(std::uint32_t wanted) {
  while (ticks.load(MemoryOrder::relaxed) < wanted) arch::pause();
}

}  // namespace

void run_payload(Kernel& kernel) {
  InterruptController& controller = kernel.controller();
  const InterruptLine line = controller.isa_line(8);
  const Result<std::uint8_t> vector = controller.connect(kernel.interrupts, line, {on_beat, nullptr}, 0);
  if (!vector.ok()) panic(vector.error());
  write_clock(register_a, (read_clock(register_a) & 0xf0) | 3);  // 8192 beats a second
  write_clock(register_b, read_clock(register_b) | 0x40);
  wait_for_ticks(5);
  kernel.log.information("clock: 5 ticks");

  controller.mask(line.number);
  ticks.store(0, MemoryOrder::relaxed);
  for (int i = 0; i < 2000; ++i) read_clock(register_c);
  if (ticks.load(MemoryOrder::relaxed) != 0) panic("expected no tick of a masked line, found one");
  kernel.log.information("clock: masked, no ticks");
  write_clock(register_b, read_clock(register_b) & ~0x40u);
  controller.disconnect(kernel.interrupts, line, vector.value());

  const Result<MessageInterrupt> message = controller.connect_message(kernel.interrupts, {count, nullptr}, 0);
  if (kernel.interrupt_hardware.apics() == nullptr) {
    if (message.ok()) panic("expected no messages without a local APIC, found one");
  } else {
    if (!message.ok()) panic(message.error());
    controller.send(0, message.value().vector);  // as a device's write would
    wait_for_ticks(1);
    kernel.interrupts.release(message.value().vector);
  }
  kernel.log.information("message: arrived, or cannot");
}

}  // namespace ingot::os
