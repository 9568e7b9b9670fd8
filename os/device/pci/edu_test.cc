#include "os/device/pci/edu.h"

#include <gtest/gtest.h>

#include "os/device/fake_registers.h"

namespace ingot::os {
namespace {

using Writes = std::vector<FakeRegisters::Write>;

class EduTest : public testing::Test {
 protected:
  EduTest() { registers_.words[0] = 0x010000ed; }
  FakeRegisters registers_;
};

TEST_F(EduTest, IsKnownByItsIdentity) {
  EXPECT_TRUE(Edu::create(registers_).ok());
  registers_.words[0] = 0xffffffff;
  EXPECT_FALSE(Edu::create(registers_).ok());
}

TEST_F(EduTest, AsksForAnInterruptBeforeItStarts) {
  Result<Edu> edu = Edu::create(registers_);
  edu.value().start_factorial(5);
  EXPECT_EQ(registers_.writes, (Writes{{0x20, 0x80}, {0x08, 5}}));
}

TEST_F(EduTest, CopiesWithinItsReachOnly) {
  Result<Edu> edu = Edu::create(registers_);
  ASSERT_TRUE(edu.value().start_copy_from(PhysicalAddress(0x1000), 64).ok());
  EXPECT_EQ(registers_.writes, (Writes{{0x80, 0x1000}, {0x88, 0x40000}, {0x90, 64}, {0x98, 5}}));
  registers_.writes.clear();
  ASSERT_TRUE(edu.value().start_copy_to(PhysicalAddress(0x2000), 64).ok());
  EXPECT_EQ(registers_.writes, (Writes{{0x80, 0x40000}, {0x88, 0x2000}, {0x90, 64}, {0x98, 7}}));
  EXPECT_FALSE(edu.value().start_copy_from(PhysicalAddress(Edu::reach - 32), 64).ok());
  EXPECT_FALSE(edu.value().start_copy_to(PhysicalAddress(0x1000), 4097).ok());
}

TEST_F(EduTest, TakesBackWhatItInterruptedFor) {
  Result<Edu> edu = Edu::create(registers_);
  EXPECT_EQ(edu.value().acknowledge(), 0u);
  EXPECT_TRUE(registers_.writes.empty());
  registers_.words[0x24] = Edu::copy_done;
  EXPECT_EQ(edu.value().acknowledge(), Edu::copy_done);
  EXPECT_EQ(registers_.writes, (Writes{{0x64, 0x100}}));
}

}  // namespace
}  // namespace ingot::os
