#include "os/arch/x86_64/user_isolation.h"

#include <gtest/gtest.h>

#include <map>

namespace ingot::os::arch {
namespace {

struct Words {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Isolation read(std::map<std::uint32_t, Words> leaves, std::map<std::uint32_t, std::uint64_t> registers) {
  return Isolation::read([&](std::uint32_t leaf) { return leaves[leaf]; },
                         [&](std::uint32_t number) {
                           EXPECT_TRUE(registers.contains(number)) << "would fault: " << number;
                           return registers[number];
                         });
}

constexpr std::uint32_t control_and_capabilities = 1u << 26 | 1u << 29;

TEST(Isolation, TakesEveryProtectionThatTheCpuHas) {
  const Isolation found =
      read({{0, {.eax = 7}}, {1, {.edx = 1u << 7}}, {7, {.ebx = 1u << 7 | 1u << 20, .ecx = 1u << 2}}}, {});
  EXPECT_EQ(found.control_register_4, 1u << 6 | 1u << 11 | 1u << 20 | 1u << 21);
  EXPECT_EQ(found.branches, Isolation::BranchPrediction::shared);
}

TEST(Isolation, TakesNothingThatTheCpuHasNot) {
  EXPECT_EQ(read({{0, {.eax = 7}}}, {}).control_register_4, 0u);
  // A leaf beyond the last answers what the last one does.
  EXPECT_EQ(read({{0, {.eax = 6}}, {7, {~0u, ~0u, ~0u, ~0u}}}, {}).control_register_4, 0u);
}

TEST(Isolation, RestrictsBranchesWhereTheCpuSaysThatOneBitIsEnough) {
  const std::map<std::uint32_t, Words> intel = {{0, {.eax = 7}}, {7, {.edx = control_and_capabilities}}};
  EXPECT_EQ(read(intel, {{0x10a, 1u << 1}}).branches, Isolation::BranchPrediction::restricted_by_control);
  EXPECT_EQ(read(intel, {{0x10a, 1u << 0}}).branches, Isolation::BranchPrediction::shared);
  const Words without_capabilities{.edx = 1u << 26};
  EXPECT_EQ(read({{0, {.eax = 7}}, {7, without_capabilities}}, {}).branches, Isolation::BranchPrediction::shared);
}

TEST(Isolation, LeavesBranchesToCpusThatRestrictThemselves) {
  EXPECT_EQ(read({{0x8000'0000, {.eax = 0x8000'0021}}, {0x8000'0021, {.eax = 1u << 8}}}, {}).branches,
            Isolation::BranchPrediction::restricted_by_features);
  EXPECT_EQ(read({{0x8000'0000, {.eax = 0x8000'0008}}, {0x8000'0021, {.eax = 1u << 8}}}, {}).branches,
            Isolation::BranchPrediction::shared);
}

}  // namespace
}  // namespace ingot::os::arch
