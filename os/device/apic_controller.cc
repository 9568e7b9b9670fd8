#include "os/device/apic_controller.h"

#include "os/interrupt/vectors.h"

namespace ingot::os {

ApicController::ApicController(LocalApic& local, std::span<IoApic*> io_apics, const AcpiInterrupts& table)
    : local_(local), io_apics_(io_apics), table_(table), processors_left_out_(table.processors_left_out) {
  apic_ids_[processor_count_++] = local.id();
  for (const AcpiProcessor& processor : table.processors.all()) {
    if (!processor.enabled || processor.apic_id == apic_ids_[0]) continue;
    if (processor_count_ == most_processors || processor.apic_id > local.highest_id()) {
      ++processors_left_out_;
    } else {
      apic_ids_[processor_count_++] = processor.apic_id;
    }
  }
}

void ApicController::forget(std::uint32_t cpu) {
  for (std::size_t next = cpu + 1; next < processor_count_; ++next) apic_ids_[next - 1] = apic_ids_[next];
  --processor_count_;
}

InterruptLine ApicController::isa_line(std::uint8_t number) const {
  InterruptLine line{number, Polarity::active_high, Trigger::edge};
  for (const AcpiInterruptOverride& override : table_.overrides.all()) {
    if (override.isa_interrupt != number) continue;
    line.number = override.global_interrupt;
    if (override.polarity != Polarity::as_the_bus) line.polarity = override.polarity;
    if (override.trigger != Trigger::as_the_bus) line.trigger = override.trigger;
  }
  return line;
}

// Lines and messages name a CPU by 8 bits, and 255 means all.
Result<std::uint8_t> ApicController::destination(std::uint32_t cpu) const {
  if (cpu < processor_count_ && apic_ids_[cpu] < 0xff) return static_cast<std::uint8_t>(apic_ids_[cpu]);
  return Error::of(ErrorCode::unsupported, "expected a CPU with an APIC number below 255 for a device's interrupt, ",
                   "found CPU ", cpu, " of ", processor_count_);
}

Result<void> ApicController::route(const InterruptLine& line, std::uint8_t vector, std::uint32_t cpu) {
  IoApic* io_apic = io_apic_of(line.number);
  if (io_apic == nullptr) {
    return Error::of(ErrorCode::not_found, "expected a line of an I/O APIC, found ", line.number);
  }
  io_apic->route(line, vector, TRY(destination(cpu)));
  return {};
}

Result<InterruptMessage> ApicController::message(std::uint8_t vector, std::uint32_t cpu) const {
  constexpr std::uint64_t local_apics = 0xfee00000;  // where every local APIC listens, not where its registers are
  return InterruptMessage{local_apics | std::uint64_t{TRY(destination(cpu))} << 12, vector};
}

bool ApicController::is_spurious(std::uint64_t vector) { return vector == vectors::spurious; }

IoApic* ApicController::io_apic_of(std::uint32_t line) const {
  for (IoApic* io_apic : io_apics_) {
    if (io_apic->has(line)) return io_apic;
  }
  return nullptr;
}

void ApicController::set_masked(std::uint32_t line, bool masked) {
  if (IoApic* io_apic = io_apic_of(line)) io_apic->set_masked(line, masked);
}

}  // namespace ingot::os
