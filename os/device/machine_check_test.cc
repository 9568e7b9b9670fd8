#include "os/device/machine_check.h"

#include <gtest/gtest.h>

#include "os/arch/arch.h"

namespace ingot::os {
namespace {

class MachineCheckTest : public testing::Test {
 protected:
  ~MachineCheckTest() override {
    arch::hosted::thread.cpuid = nullptr;
    arch::hosted::thread.model_registers = nullptr;
  }
};

arch::CpuidResult with_banks(std::uint32_t leaf) { return {.edx = leaf == 1 ? 1u << 14 : 0}; }
// Four banks: nothing, an error without an address, one with, one that was corrected. A fifth is not counted.
std::uint64_t four_banks(std::uint32_t number) {
  switch (number) {
    case 0x179: return 0x1000104;
    case 0x17a: return 5;
    case 0x405: return 0xb200'0000'0000'0005;
    case 0x406: return 0xdead;
    case 0x409: return 0xb600'0000'0000'0136;
    case 0x40a: return 0x1'2345'6000;
    case 0x40d: return 0x8000'0000'0000'0001;
    case 0x411: return ~std::uint64_t{0};
    default: return 0;
  }
}

TEST_F(MachineCheckTest, EveryBankWithAnErrorIsTold) {
  arch::hosted::thread.cpuid = with_banks;
  arch::hosted::thread.model_registers = four_banks;
  const MachineCheckReport report = read_machine_checks();
  EXPECT_EQ(report.errors, 3u);
  EXPECT_EQ(report.text.view(),
            "machine check: state 0x5, 4 banks; bank 1: uncorrected, status 0xb200000000000005; bank 2: uncorrected, "
            "status 0xb600000000000136, address 0x123456000; bank 3: corrected, status 0x8000000000000001");
}

TEST_F(MachineCheckTest, BanksAreClearedAndOpenedUpToTheLast) {
  arch::hosted::thread.cpuid = with_banks;
  arch::hosted::thread.model_registers = four_banks;
  clear_machine_checks();
  EXPECT_EQ(arch::hosted::thread.model_register, 0x40cu);  // the last bank's control
  EXPECT_EQ(arch::hosted::thread.model_value, ~std::uint64_t{0});
}

TEST_F(MachineCheckTest, TheFirstControlIsLeftAloneWhereItIsTheFirmwares) {
  arch::hosted::thread.cpuid = [](std::uint32_t) -> arch::CpuidResult { return {.eax = 0x106f0, .edx = 1u << 14}; };
  arch::hosted::thread.model_registers = [](std::uint32_t number) -> std::uint64_t { return number == 0x179 ? 1 : 0; };
  clear_machine_checks();
  EXPECT_EQ(arch::hosted::thread.model_register, 0x400u);  // model 1Fh
  arch::hosted::thread.cpuid = [](std::uint32_t) -> arch::CpuidResult { return {.eax = 0x10670, .edx = 1u << 14}; };
  clear_machine_checks();
  EXPECT_EQ(arch::hosted::thread.model_register, 0x401u);  // model 17h: the status was the last
}

TEST_F(MachineCheckTest, ACpuWithoutBanksIsAskedForNone) {
  arch::hosted::thread.model_registers = [](std::uint32_t number) -> std::uint64_t {
    ADD_FAILURE() << "would fault: " << number;
    return 0;
  };
  clear_machine_checks();
  EXPECT_EQ(read_machine_checks().text.view(), "machine check: 0 banks");
}

}  // namespace
}  // namespace ingot::os
