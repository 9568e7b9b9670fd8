#include "os/arch/x86_64/user_isolation.h"

#include "os/arch/x86_64/cpu.h"

namespace ingot::os::arch {

void enable_isolation() {
  const Isolation found = Isolation::read([](std::uint32_t leaf) { return cpuid(leaf); }, read_model_register);
  write_control_register_4(read_control_register_4() | found.control_register_4);
  constexpr std::uint32_t speculation_control = 0x48, extended_features = 0xc0000080;
  constexpr std::uint64_t restrict_branches = 1u << 0, restrict_by_itself = 1u << 21;
  const auto set = [](std::uint32_t number, std::uint64_t bit) {
    write_model_register(number, read_model_register(number) | bit);
  };
  if (found.branches == Isolation::BranchPrediction::restricted_by_control) set(speculation_control, restrict_branches);
  if (found.branches == Isolation::BranchPrediction::restricted_by_features) set(extended_features, restrict_by_itself);
}

}  // namespace ingot::os::arch
