// ApicController: local APICs, I/O APICs and the MADT's list as one interrupt controller.
#pragma once

#include <array>
#include <span>

#include "base/image/machine_limits.h"
#include "os/device/acpi_interrupts.h"
#include "os/device/io_apic.h"
#include "os/device/local_apic.h"

namespace ingot::os {

class ApicController final : public InterruptController {
 public:
  // As many CPUs as the scheduler can tell apart.
  static constexpr std::size_t most_processors = most_machine_cpus;

  // Precondition: `local` is enabled on the calling CPU, which becomes CPU 0; the others follow in the table's order.
  // Those beyond the most, and those whose number the local APIC cannot say, are left out.
  ApicController(LocalApic& local, std::span<IoApic*> io_apics, const AcpiInterrupts& table);

  std::string_view name() const override { return "local and I/O APICs"; }
  InterruptLine isa_line(std::uint8_t number) const override;
  std::optional<std::uint8_t> fixed_vector(const InterruptLine&) const override { return std::nullopt; }
  Result<void> route(const InterruptLine& line, std::uint8_t vector, std::uint32_t cpu) override;
  void mask(std::uint32_t line) override { set_masked(line, true); }
  void unmask(std::uint32_t line) override { set_masked(line, false); }
  Result<InterruptMessage> message(std::uint8_t vector, std::uint32_t cpu) const override;

  void send(std::uint32_t cpu, std::uint8_t vector) override { local_.send(apic_ids_[cpu], vector); }
  void stop_others() override { local_.send_non_maskable_to_others(); }
  bool is_spurious(std::uint64_t vector) override;
  void end_of_interrupt(std::uint64_t) override { local_.end_of_interrupt(); }

  // The CPUs that firmware says can be started, this one first.
  std::span<const std::uint32_t> apic_ids() const { return std::span(apic_ids_).first(processor_count_); }
  // It did not start: those behind it move up.
  void forget(std::uint32_t cpu);
  std::uint32_t processors_left_out() const { return processors_left_out_; }
  LocalApic& local() { return local_; }

 private:
  IoApic* io_apic_of(std::uint32_t line) const;
  void set_masked(std::uint32_t line, bool masked);
  Result<std::uint8_t> destination(std::uint32_t cpu) const;

  LocalApic& local_;
  std::span<IoApic*> io_apics_;
  const AcpiInterrupts& table_;
  std::array<std::uint32_t, most_processors> apic_ids_{};
  std::size_t processor_count_ = 0;
  std::uint32_t processors_left_out_ = 0;
};

}  // namespace ingot::os
