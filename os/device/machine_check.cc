#include "os/device/machine_check.h"

#include "os/arch/arch.h"
#include "os/trace/format.h"

namespace ingot::os {

namespace {

// Model-specific registers: of the CPU, and of its first bank, each bank's four behind those of the one before.
constexpr std::uint32_t capabilities_register = 0x179, state_register = 0x17a, all_banks_control_register = 0x17b,
                        first_bank = 0x400, registers_per_bank = 4;
struct Bank {
  explicit Bank(std::uint32_t index) : base(first_bank + index * registers_per_bank) {}
  std::uint32_t control() const { return base; }
  std::uint32_t status() const { return base + 1; }
  std::uint32_t address() const { return base + 2; }
  std::uint32_t base;
};
constexpr std::uint64_t is_valid = std::uint64_t{1} << 63, is_uncorrected = std::uint64_t{1} << 61,
                        has_address = std::uint64_t{1} << 58;

struct Capabilities {
  std::uint32_t banks = 0;
  bool has_control = false;  // over all banks
};
Capabilities capabilities() {
  constexpr std::uint32_t has_banks = 1u << 14;
  constexpr std::uint64_t count_bits = 0xff, has_control = 1u << 8;
  if ((arch::cpuid(1).edx & has_banks) == 0) return {};
  const std::uint64_t told = arch::read_model_register(capabilities_register);
  return {static_cast<std::uint32_t>(told & count_bits), (told & has_control) != 0};
}

// On Intel's family 6 before model 1Ah the first bank's control is another register, and the firmware's (SDM volume 3,
// 16.3.2.1).
bool has_first_control() {
  const std::uint32_t signature = arch::cpuid(1).eax;
  const std::uint32_t family = signature >> 8 & 0xf, model = (signature >> 12 & 0xf0) | (signature >> 4 & 0xf);
  return family != 6 || model >= 0x1a;
}

}  // namespace

void clear_machine_checks() {
  const auto [banks, has_control] = capabilities();
  const std::uint32_t first_control = has_first_control() ? 0 : 1;
  if (has_control) arch::write_model_register(all_banks_control_register, ~std::uint64_t{0});
  for (std::uint32_t index = 0; index < banks; ++index) {
    const Bank bank(index);
    arch::write_model_register(bank.status(), 0);
    if (index >= first_control) arch::write_model_register(bank.control(), ~std::uint64_t{0});
  }
}

MachineCheckReport read_machine_checks() {
  MachineCheckReport report;
  const std::uint32_t banks = capabilities().banks;
  report.text.append("machine check: ");
  if (banks != 0) report.text.append_all("state ", Hexadecimal{arch::read_model_register(state_register)}, ", ");
  report.text.append_all(banks, " banks");
  for (std::uint32_t index = 0; index < banks; ++index) {
    const Bank bank(index);
    const std::uint64_t status = arch::read_model_register(bank.status());
    if ((status & is_valid) == 0) continue;
    ++report.errors;
    report.text.append_all("; bank ", index, (status & is_uncorrected) != 0 ? ": uncorrected" : ": corrected",
                           ", status ", Hexadecimal{status});
    if ((status & has_address) == 0) continue;
    report.text.append_all(", address ", Hexadecimal{arch::read_model_register(bank.address())});
  }
  return report;
}

}  // namespace ingot::os
