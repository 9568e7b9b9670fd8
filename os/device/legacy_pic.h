// The two 8259s of the first PCs: 15 lines to one CPU, vectors 0x20 to 0x2f. Where there is an APIC they are silenced.
#pragma once

#include "os/interrupt/interrupt_controller.h"
#include "os/schedule/locked.h"

namespace ingot::os {

class LegacyPic final : public InterruptController {
 public:
  // Out of the way of the CPU's own vectors, and all lines masked. Even so a spurious interrupt may come.
  static void silence();

  std::string_view name() const override { return "two 8259s"; }
  InterruptLine isa_line(std::uint8_t number) const override { return {number, Polarity::active_high, Trigger::edge}; }
  std::optional<std::uint8_t> fixed_vector(const InterruptLine& line) const override;
  Result<void> route(const InterruptLine& line, std::uint8_t vector, std::uint32_t cpu) override;
  void mask(std::uint32_t line) override;
  void unmask(std::uint32_t line) override;
  Result<InterruptMessage> message(std::uint8_t vector, std::uint32_t cpu) const override;

  // There is only one CPU.
  void send(std::uint32_t, std::uint8_t) override {}
  void stop_others() override {}

  bool is_spurious(std::uint64_t vector) override;
  void end_of_interrupt(std::uint64_t vector) override;

 private:
  static constexpr std::uint32_t line_count = 16;

  Locked<std::uint16_t, SharedWith::interrupts> masks_{LockRank::interrupts, std::uint16_t{0xffff}};
};

}  // namespace ingot::os
