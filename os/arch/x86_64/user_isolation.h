// What the CPU itself does to keep programs out of the kernel, as far as it can. Which of it there is, is plain logic:
// tested on the host.
#pragma once

#include <cstdint>

namespace ingot::os::arch {

// On each CPU, before the first program.
void enable_isolation();

struct Isolation {
  // What a mispredicted indirect branch of the kernel may follow: on some CPUs nothing that ring 3 trained, once a bit
  // is set for good. Intel has it in IA32_SPEC_CTRL (SDM volume 4), AMD in EFER (APM volume 2, 3.2.9).
  enum class BranchPrediction : std::uint8_t { shared, restricted_by_control, restricted_by_features };
  static constexpr std::uint64_t machine_checks = 1u << 6, no_table_addresses = 1u << 11, no_user_code = 1u << 20,
                                 no_user_data = 1u << 21;  // of CR4 (SDM volume 3, 2.5)

  std::uint64_t control_register_4 = 0;  // bits to set
  BranchPrediction branches = BranchPrediction::shared;

  // cpuid(leaf) has the members eax to edx; read_model_register(number) is asked only for what CPUID says is there.
  template <class Cpuid, class ReadModelRegister>
  static Isolation read(Cpuid&& cpuid, ReadModelRegister&& read_model_register) {
    Isolation found;
    const auto set_where = [&](bool has, std::uint64_t bit) { found.control_register_4 |= has ? bit : 0; };
    set_where((cpuid(1).edx & 1u << 7) != 0, machine_checks);
    if (cpuid(0).eax >= 7) {
      const auto features = cpuid(7);
      set_where((features.ecx & 1u << 2) != 0, no_table_addresses);  // UMIP: ring 3 cannot read where tables lie
      set_where((features.ebx & 1u << 7) != 0, no_user_code);        // SMEP: the kernel never executes ring 3's pages
      set_where((features.ebx & 1u << 20) != 0, no_user_data);       // SMAP: nor reads or writes them by accident
      constexpr std::uint32_t has_control = 1u << 26, has_capabilities = 1u << 29, capabilities_register = 0x10a;
      constexpr std::uint64_t restricts_for_good = 1u << 1;
      if ((features.edx & has_control) != 0 && (features.edx & has_capabilities) != 0 &&
          (read_model_register(capabilities_register) & restricts_for_good) != 0) {
        found.branches = BranchPrediction::restricted_by_control;
      }
    }
    constexpr std::uint32_t extended_leaves = 0x8000'0000, leaf = 0x8000'0021, restricts_by_itself = 1u << 8;
    if (cpuid(extended_leaves).eax >= leaf && (cpuid(leaf).eax & restricts_by_itself) != 0) {
      found.branches = BranchPrediction::restricted_by_features;
    }
    return found;
  }
};

}  // namespace ingot::os::arch
