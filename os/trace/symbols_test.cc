#include "os/trace/symbols.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "os/trace/backtrace.h"

namespace ingot::os {
namespace {

constexpr VirtualAddress base(0xffffffff80000000);

struct Function {
  std::uint32_t offset;
  std::string name;
};

// The format as os/images/list_symbols.py writes it.
std::vector<std::byte> table_of(const std::vector<Function>& functions, std::uint32_t end) {
  std::vector<std::uint32_t> numbers = {static_cast<std::uint32_t>(functions.size())};
  std::string names;
  for (const Function& function : functions) {
    const std::size_t name = names.find(function.name) == std::string::npos ? names.size() : names.find(function.name);
    numbers.insert(numbers.end(), {function.offset, static_cast<std::uint32_t>(name | function.name.size() << 24)});
    if (name == names.size()) names += function.name;
  }
  numbers.insert(numbers.end(), {end, 0});
  std::vector<std::byte> table(numbers.size() * 4 + names.size());
  std::memcpy(table.data(), numbers.data(), numbers.size() * 4);
  std::memcpy(table.data() + numbers.size() * 4, names.data(), names.size());
  return table;
}

TEST(Symbols, AnAddressBelongsToTheFunctionThatHoldsIt) {
  const auto table = table_of({{0x100, "first"}, {0x180, "second"}, {0x200, "first"}}, 0x210);
  const Result<SymbolTable> symbols = SymbolTable::create(table, base);
  ASSERT_TRUE(symbols.ok()) << symbols.error().text();
  for (std::uint64_t offset = 0; offset < 0x300; ++offset) {
    const std::optional<Symbol> found = symbols.value().find(base + offset);
    const bool known = offset >= 0x100 && offset < 0x210;
    ASSERT_EQ(found.has_value(), known) << offset;
    if (!known) continue;
    EXPECT_EQ(found->name, offset >= 0x180 && offset < 0x200 ? "second" : "first");
    EXPECT_EQ(found->offset, offset - (offset < 0x180 ? 0x100 : offset < 0x200 ? 0x180 : 0x200));
  }
  EXPECT_FALSE(symbols.value().find(VirtualAddress(0x100)).has_value());
}

TEST(Symbols, AnEmptyTableKnowsNothing) {
  const auto table = table_of({}, 0);
  const Result<SymbolTable> symbols = SymbolTable::create(table, base);
  ASSERT_TRUE(symbols.ok());
  EXPECT_FALSE(symbols.value().find(base).has_value());
  EXPECT_FALSE(SymbolTable().find(base).has_value());
}

TEST(Symbols, ContradictionsAreRefused) {
  EXPECT_FALSE(SymbolTable::create({}, base).ok());
  EXPECT_FALSE(SymbolTable::create(table_of({{0x200, "a"}, {0x100, "b"}}, 0x300), base).ok());
  EXPECT_FALSE(SymbolTable::create(table_of({{0x200, "a"}}, 0x100), base).ok());
  auto cut = table_of({{0x100, "name"}}, 0x200);
  cut.resize(cut.size() - 1);
  EXPECT_FALSE(SymbolTable::create(cut, base).ok());
  cut.resize(11);
  EXPECT_FALSE(SymbolTable::create(cut, base).ok());
}

// Either refused, or every lookup stays inside the table (the sanitizers watch).
TEST(Symbols, DamagedTablesAreRefusedOrHarmless) {
  RandomNumbers numbers(3);
  for (int round = 0; round < 3000; ++round) {
    auto table = table_of({{0x100, "first"}, {0x180, "second"}, {0x200, "third"}}, 0x210);
    table[numbers.below(table.size())] = static_cast<std::byte>(numbers.next());
    const Result<SymbolTable> symbols = SymbolTable::create(table, base);
    if (!symbols.ok()) continue;
    for (std::uint64_t offset = 0; offset < 0x300; offset += 7) {
      if (const auto found = symbols.value().find(base + offset)) {
        EXPECT_LE(std::string(found->name).size(), table.size());
      }
    }
  }
}

struct FakeStack {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(64);
  static constexpr std::uint64_t bottom = 0x1000;

  std::vector<std::uint64_t> walk(std::uint64_t frame) const {
    std::vector<std::uint64_t> found;
    walk_frames(
        VirtualAddress(frame),
        [this](VirtualAddress address) -> std::optional<std::uint64_t> {
          if (address.value() < bottom || address.value() >= bottom + words.size() * 8) return {};
          return words[(address.value() - bottom) / 8];
        },
        [&](VirtualAddress address) { found.push_back(address.value()); });
    return found;
  }
};

TEST(Backtrace, FollowsTheChainToItsEnd) {
  FakeStack stack;
  stack.words[0] = FakeStack::bottom + 8 * 10;
  stack.words[1] = 0xaaa;
  stack.words[10] = FakeStack::bottom + 8 * 20;
  stack.words[11] = 0xbbb;
  stack.words[21] = 0xccc;  // the outermost frame pointer is 0
  EXPECT_EQ(stack.walk(FakeStack::bottom), (std::vector<std::uint64_t>{0xaaa, 0xbbb, 0xccc}));
}

TEST(Backtrace, EndsWhereTheChainIsBroken) {
  FakeStack stack;
  EXPECT_TRUE(stack.walk(0).empty());
  EXPECT_TRUE(stack.walk(FakeStack::bottom + 3).empty());
  EXPECT_TRUE(stack.walk(0x500000).empty());
  EXPECT_TRUE(stack.walk(FakeStack::bottom + 63 * 8).empty()) << "the return address would lie outside";
  stack.words[0] = FakeStack::bottom;  // points at itself
  stack.words[1] = 0xaaa;
  EXPECT_EQ(stack.walk(FakeStack::bottom).size(), 1u);
}

TEST(Backtrace, ALongChainIsCut) {
  FakeStack stack;
  for (std::size_t index = 0; index < 64; index += 2) {
    stack.words[index] = FakeStack::bottom + 8 * (index + 2);
    stack.words[index + 1] = 0xabc;
  }
  EXPECT_EQ(stack.walk(FakeStack::bottom).size(), deepest_backtrace);
}

}  // namespace
}  // namespace ingot::os
