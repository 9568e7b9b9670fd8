#include "os/process/initial_stack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/image/image_manifest.h"

namespace ingot::os {
namespace {

constexpr VirtualAddress top{0x7fff'ffff'e000};

// Reads a finished stack as a program does: by addresses alone.
class Program {
 public:
  Program(const InitialStack& stack, VirtualAddress pointer) : stack_(stack), pointer_(pointer) {}

  std::uint64_t word(std::uint64_t index) const {
    std::uint64_t value = 0;
    std::memcpy(&value, at(pointer_.value() + index * 8), sizeof value);
    return value;
  }
  std::string text(std::uint64_t address) const { return reinterpret_cast<const char*>(at(address)); }
  const std::byte* at(std::uint64_t address) const {
    EXPECT_GE(address, pointer_.value());
    EXPECT_LT(address, top.value());
    return stack_.contents().data() + (address - pointer_.value());
  }

 private:
  const InitialStack& stack_;
  VirtualAddress pointer_;
};

TEST(InitialStack, HoldsArgumentsEnvironmentAndFacts) {
  std::vector<std::byte> room(4096);
  InitialStack stack(room, top);
  ASSERT_TRUE(stack.add_argument(EscapedText("ingot")).ok());
  ASSERT_TRUE(stack.add_argument(EscapedText("a \"quoted\" word\\nand a line, \xc3\xa4")).ok());
  ASSERT_TRUE(stack.add_environment(EscapedText("HOME=/")).ok());
  const std::byte random[16] = {std::byte{1}, std::byte{2}};
  const VirtualAddress bytes = stack.add_bytes(random).value();
  EXPECT_TRUE(bytes.aligned(16));
  ASSERT_TRUE(stack.add_fact(AuxiliaryKey::random_bytes, bytes.value()).ok());
  const VirtualAddress pointer = stack.finish().value();
  EXPECT_TRUE(pointer.aligned(16));
  EXPECT_EQ(top - pointer, stack.contents().size());

  const Program program(stack, pointer);
  EXPECT_EQ(program.word(0), 2u);
  EXPECT_EQ(program.text(program.word(1)), "ingot");
  EXPECT_EQ(program.text(program.word(2)), "a \"quoted\" word\nand a line, \xc3\xa4");
  EXPECT_EQ(program.word(3), 0u);
  EXPECT_EQ(program.text(program.word(4)), "HOME=/");
  EXPECT_EQ(program.word(5), 0u);
  EXPECT_EQ(program.word(6), 25u);
  EXPECT_EQ(*program.at(program.word(7) + 1), std::byte{2});
  EXPECT_EQ(program.word(8), 0u);
  EXPECT_EQ(program.word(9), 0u);
}

TEST(InitialStack, RefusesWhatDoesNotFit) {
  std::vector<std::byte> room(64);
  InitialStack stack(room, top);
  EXPECT_FALSE(stack.add_argument(EscapedText(std::string(64, 'x'))).ok());
  ASSERT_TRUE(stack.add_argument(EscapedText(std::string(40, 'x'))).ok());
  EXPECT_FALSE(stack.finish().ok());
}

TEST(InitialStack, RefusesArgumentsBehindTheEnvironment) {
  std::vector<std::byte> room(4096);
  InitialStack stack(room, top);
  ASSERT_TRUE(stack.add_environment(EscapedText("A=1")).ok());
  EXPECT_FALSE(stack.add_argument(EscapedText("late")).ok());
}

TEST(InitialStack, IsEmptyWithNothing) {
  std::vector<std::byte> room(4096);
  InitialStack stack(room, top);
  const VirtualAddress pointer = stack.finish().value();
  const Program program(stack, pointer);
  for (std::uint64_t index = 0; index < 5; ++index) EXPECT_EQ(program.word(index), 0u);
}

}  // namespace
}  // namespace ingot::os
