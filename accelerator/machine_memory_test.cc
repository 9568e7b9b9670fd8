// A machine's memory is found by what it wrote there, and only so much of it is mapped as tables rightly say.
#include "accelerator/machine_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

#include "accelerator/fake_machine.h"

namespace ingot {
namespace {

using accelerator::MemoryCode;
using accelerator::MemoryCommand;
using accelerator::MemoryPiece;
using accelerator::page_bytes;

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
constexpr std::uint64_t table_at = 16 * page_bytes;

template <class Value>
std::string refusal_of(const Result<Value>& result) {
  return result.ok() ? "" : std::string(result.error().text());
}

// What is said of a range and a frame in it.
MemoryCommand range_of(std::uint64_t physical, std::uint64_t bytes, std::uint64_t frame, std::uint64_t nonce) {
  MemoryCommand command;
  command.code = MemoryCode::locate;
  command.address = physical;
  command.bytes = bytes;
  command.frame = frame;
  command.nonce = nonce;
  return command;
}

TEST(MachineMemory, OfNoPageIsNotAdopted) {
  const Descriptor empty(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::fcntl(empty.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  MachineMemory machine;
  EXPECT_NE(refusal_of(machine.adopt(Descriptor(::dup(empty.get())))).find("at least a page"), std::string::npos);
  EXPECT_EQ(machine.descriptor(), -1);
}

struct Adopted {
  explicit Adopted(std::vector<FakeMemory::Range> ranges) : memory(std::move(ranges)) {
    const Result<std::uint64_t> bytes = machine.adopt(Descriptor(::dup(memory.file().descriptor())));
    EXPECT_EQ(bytes.value(), memory.file().size());
  }
  Result<std::uint64_t> locate(const FakeMemory::Range& range, std::uint64_t frame) {
    memory.write_nonce(frame, ++nonce);
    Result<std::uint64_t> found = machine.locate(range_of(range.physical, range.bytes, frame, nonce));
    memory.write_nonce(frame, 0);
    return found;
  }
  void expect_all_located() {
    for (const FakeMemory::Range& range : memory.ranges()) {
      const Result<std::uint64_t> found = locate(range, range.physical + range.bytes - page_bytes);
      ASSERT_EQ(refusal_of(found), "");
      EXPECT_EQ(found.value(), range.offset);
    }
  }
  // What the machine would be refused for with that table.
  Result<std::vector<FilePiece>> read(const std::vector<MemoryPiece>& table, std::uint64_t bytes) {
    memory.write(table_at, table);
    return read_at(table_at, table.size(), bytes);
  }
  Result<std::vector<FilePiece>> read_at(std::uint64_t address, std::uint64_t count, std::uint64_t bytes) {
    MemoryCommand command;
    command.code = MemoryCode::map_pieces;
    command.bytes = bytes;
    command.table = address;
    command.pieces = count;
    return machine.read_table(command);
  }
  FakeMemory memory;
  MachineMemory machine;
  std::uint64_t nonce = 0x1234'5678'9abc'def0;
};

// 5 GiB of addresses: no page of them is made but those that the test writes.
TEST(MachineMemory, LiesAsEmulatorsLayItOut) {
  for (const std::uint64_t below : {3 * gibibyte, 11 * gibibyte / 4, 2 * gibibyte}) {  // microvm and q35, q35, q35
    Adopted adopted({{0, below, 0}, {4 * gibibyte, gibibyte, below}});
    adopted.expect_all_located();
  }
  Adopted virt({{gibibyte, gibibyte, 0}});  // of aarch64
  virt.expect_all_located();
}

TEST(MachineMemory, IsLookedForWhereNoEmulatorLaysIt) {
  Adopted adopted({{0, 16 * page_bytes, 64 * page_bytes},
                   {1000 * page_bytes, 32 * page_bytes, 0},
                   {5000 * page_bytes, 16 * page_bytes, 100 * page_bytes}});
  for (std::uint64_t at = 0; at < adopted.memory.file().size(); at += 7 * page_bytes) {
    adopted.memory.file().data()[at] = std::byte{1};
  }
  adopted.expect_all_located();
}

TEST(MachineMemory, IsNotMadeByLookingForIt) {
  const Adopted nothing_written({{0, 256 * page_bytes, 0}});
  struct stat before{}, after{};
  Adopted adopted({{0, 4096 * page_bytes, 4096 * page_bytes}, {100000 * page_bytes, 4096 * page_bytes, 0}});
  ::fstat(adopted.memory.file().descriptor(), &before);
  EXPECT_FALSE(adopted.machine.locate(range_of(0, page_bytes, 0, 5)).ok());
  ::fstat(adopted.memory.file().descriptor(), &after);
  EXPECT_EQ(before.st_blocks, after.st_blocks);
  EXPECT_EQ(after.st_blocks, 0);
}

TEST(MachineMemory, IsRefusedWhereItsNoncesCannotBe) {
  Adopted adopted({{0, 64 * page_bytes, 1024 * page_bytes}, {10000 * page_bytes, 64 * page_bytes, 0}});
  const auto refusal = [&](std::uint64_t physical, std::uint64_t bytes, std::uint64_t frame, std::uint64_t nonce) {
    return refusal_of(adopted.machine.locate(range_of(physical, bytes, frame, nonce)));
  };
  EXPECT_NE(refusal(0, 64 * page_bytes, 0, 77).find("found none"), std::string::npos);
  // Too few of them, or one that is another.
  adopted.memory.write(page_bytes, std::vector<std::uint64_t>(accelerator::nonce_repeats - 1, 77));
  EXPECT_NE(refusal(0, 64 * page_bytes, page_bytes, 77).find("found none"), std::string::npos);
  adopted.memory.write_nonce(page_bytes, 77);
  adopted.memory.write_nonce(2 * page_bytes, 77);
  EXPECT_NE(refusal(0, 64 * page_bytes, page_bytes, 77).find("found two"), std::string::npos);
  adopted.memory.write_nonce(2 * page_bytes, 0);
  // A range that does not fit about its frame: before the file's beginning, behind its end.
  adopted.memory.write_nonce(10000 * page_bytes, 78);
  EXPECT_NE(refusal(9999 * page_bytes, 2 * page_bytes, 10000 * page_bytes, 78).find("lie before it"),
            std::string::npos);
  EXPECT_NE(refusal(10000 * page_bytes, 1 << 30, 10000 * page_bytes, 78).find("lie before it"), std::string::npos);
  EXPECT_EQ(refusal(0, 64 * page_bytes, page_bytes, 77), "");
  // Once more; the same place by other addresses; the same addresses in another place.
  EXPECT_NE(refusal(0, 64 * page_bytes, page_bytes, 77).find("located already"), std::string::npos);
  EXPECT_NE(refusal(7000 * page_bytes, 8 * page_bytes, 7001 * page_bytes, 77).find("located already"),
            std::string::npos);
  EXPECT_NE(refusal(63 * page_bytes, 8 * page_bytes, 63 * page_bytes, 78).find("expected a range of its own"),
            std::string::npos);
}

// Two of the places that emulators lay a frame at.
TEST(MachineMemory, IsRefusedWhereTwoUsualPlacesMatch) {
  Adopted adopted({{0, 5 * gibibyte, 0}});
  adopted.memory.write_nonce(4 * gibibyte, 9);
  adopted.memory.write_nonce(3 * gibibyte, 9);
  EXPECT_NE(refusal_of(adopted.machine.locate(range_of(4 * gibibyte, page_bytes, 4 * gibibyte, 9))).find("found two"),
            std::string::npos);
}

TEST(MachineMemory, HasAtMostSoManyRanges) {
  Adopted adopted({{0, 2 * accelerator::most_located * page_bytes, 0}});
  for (std::uint64_t i = 0; i <= accelerator::most_located; ++i) {
    const Result<std::uint64_t> found = adopted.locate({2 * i * page_bytes, page_bytes, 0}, 2 * i * page_bytes);
    EXPECT_EQ(found.ok(), i < accelerator::most_located) << refusal_of(found);
    if (i + 1 == accelerator::most_located) break;
  }
}

TEST(MachineMemory, IsAdoptedOnceAndSealed) {
  MachineMemory machine;
  EXPECT_NE(refusal_of(machine.locate(range_of(0, page_bytes, 0, 1))).find("to be adopted, found none"),
            std::string::npos);
  const Descriptor unsealed(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_NE(refusal_of(machine.adopt(Descriptor(::dup(unsealed.get())))).find("sealed against shrinking"),
            std::string::npos);
  Adopted adopted({{0, 16 * page_bytes, 0}});
  EXPECT_NE(
      refusal_of(adopted.machine.adopt(Descriptor(::dup(adopted.memory.file().descriptor())))).find("found it again"),
      std::string::npos);
}

TEST(MachineMemory, GivesThePiecesOfATable) {
  Adopted adopted({{0, 64 * page_bytes, 0}, {1000 * page_bytes, 64 * page_bytes, 64 * page_bytes}});
  adopted.expect_all_located();
  const auto pieces = adopted.read({{1002 * page_bytes, page_bytes},
                                    {5 * page_bytes, 2 * page_bytes},
                                    {7 * page_bytes, page_bytes},
                                    {1000 * page_bytes, page_bytes}},
                                   5 * page_bytes);
  ASSERT_TRUE(pieces.ok()) << pieces.error().text();
  ASSERT_EQ(pieces.value().size(), 3u);
  EXPECT_EQ(pieces.value()[0].offset, 66 * page_bytes);
  EXPECT_EQ(pieces.value()[1].offset, 5 * page_bytes);
  EXPECT_EQ(pieces.value()[1].bytes, 3 * page_bytes);  // neighbours are one
  EXPECT_EQ(pieces.value()[2].offset, 64 * page_bytes);
}

TEST(MachineMemory, RefusesTablesThatCannotBe) {
  Adopted adopted({{0, 64 * page_bytes, 0}, {1000 * page_bytes, 64 * page_bytes, 64 * page_bytes}});
  adopted.expect_all_located();
  const auto refusal = [&](const std::vector<MemoryPiece>& table, std::uint64_t bytes) {
    return refusal_of(adopted.read(table, bytes));
  };
  const auto expect_refused = [&](std::string_view words, const std::vector<MemoryPiece>& table, std::uint64_t bytes) {
    const std::string found = refusal(table, bytes);
    EXPECT_NE(found.find(words), std::string::npos) << found;
  };
  expect_refused("whole pages", {{page_bytes + 8, page_bytes}}, page_bytes);
  expect_refused("whole pages", {{page_bytes, page_bytes - 1}}, page_bytes);
  expect_refused("whole pages", {{page_bytes, 0}, {page_bytes, page_bytes}}, page_bytes);
  expect_refused("whole pages", {{page_bytes, 2 * page_bytes}}, page_bytes);                          // more than all
  expect_refused("whole pages", {{page_bytes, ~std::uint64_t{0} - page_bytes + 1}}, 2 * page_bytes);  // and overflows
  expect_refused("1 fewer", {{page_bytes, page_bytes}}, page_bytes + 1);  // no whole page is asked for
  expect_refused("fewer", {{page_bytes, page_bytes}, {5 * page_bytes, page_bytes}}, 3 * page_bytes);
  expect_refused("mapped in one piece", {{63 * page_bytes, 2 * page_bytes}}, 2 * page_bytes);  // over a range's end
  expect_refused("mapped in one piece", {{500 * page_bytes, page_bytes}}, page_bytes);         // in the hole
  expect_refused("mapped in one piece", {{~std::uint64_t{page_bytes - 1}, page_bytes}}, page_bytes);
  expect_refused("do not overlap",
                 {{page_bytes, 2 * page_bytes}, {8 * page_bytes, page_bytes}, {2 * page_bytes, page_bytes}},
                 4 * page_bytes);
  // The table itself lies outside.
  EXPECT_FALSE(adopted.read_at(500 * page_bytes, 1, page_bytes).ok());
  EXPECT_FALSE(adopted.read_at(63 * page_bytes, page_bytes / sizeof(MemoryPiece) + 1, page_bytes).ok());
}

}  // namespace
}  // namespace ingot
