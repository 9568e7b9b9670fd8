#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/accelerator/argument_block.h"
#include "base/accelerator/client_ranges.h"

namespace ingot::accelerator {
namespace {

std::vector<std::byte> block_of(const std::vector<ArgumentRecord>& records) {
  std::vector<std::byte> bytes(block_bytes_of(records.size()));
  ArgumentHeader header;
  header.bytes = static_cast<std::uint32_t>(bytes.size());
  header.fields = static_cast<std::uint32_t>(records.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!records.empty()) {
    std::memcpy(bytes.data() + sizeof header, records.data(), records.size() * sizeof(ArgumentRecord));
  }
  return bytes;
}

TEST(ArgumentBlock, HoldsRecordsInTheirOrder) {
  ArgumentRecord tensor;
  tensor.kind = ArgumentKind::tensor;
  tensor.rank = 2;
  tensor.sizes = {3, 4};
  tensor.byte_strides = {16, 4};
  tensor.value = 4096;
  ArgumentRecord flag;
  flag.kind = ArgumentKind::flag;
  flag.value = 1;
  const std::vector<std::byte> bytes = block_of({tensor, flag});
  const ArgumentBlock block = ArgumentBlock::over(bytes).value();
  EXPECT_EQ(block.fields(), 2u);
  EXPECT_EQ(block.record(0).sizes[1], 4);
  EXPECT_EQ(block.record(1).kind, ArgumentKind::flag);
}

TEST(ArgumentBlock, IsRefusedWhereUnusedBytesAreUsed) {
  const auto is_refused = [](auto change) {
    ArgumentRecord record;
    change(record);
    return !ArgumentBlock::over(block_of({record})).ok();
  };
  EXPECT_FALSE(is_refused([](ArgumentRecord&) {}));
  EXPECT_TRUE(is_refused([](ArgumentRecord& r) { r.kind = static_cast<ArgumentKind>(5); }));
  EXPECT_TRUE(is_refused([](ArgumentRecord& r) { r.value = 1; }));
  EXPECT_TRUE(is_refused([](ArgumentRecord& r) { r.sizes[0] = 1; }));
  EXPECT_TRUE(is_refused([](ArgumentRecord& r) { r.kind = ArgumentKind::tensor, r.rank = 7; }));
  EXPECT_TRUE(is_refused([](ArgumentRecord& r) { r.kind = ArgumentKind::tensor, r.byte_strides[0] = 4; }));
  EXPECT_TRUE(is_refused([](ArgumentRecord& r) { r.kind = ArgumentKind::flag, r.value = 2; }));
  EXPECT_TRUE(is_refused([](ArgumentRecord& r) { r.kind = ArgumentKind::integer, r.rank = 1; }));
}

TEST(ArgumentBlock, IsAsLongAsItSays) {
  std::vector<std::byte> bytes = block_of({ArgumentRecord()});
  EXPECT_FALSE(ArgumentBlock::over(std::span(bytes).first(bytes.size() - 1)).ok());
  EXPECT_FALSE(ArgumentBlock::over(std::span(bytes).first(8)).ok());
  bytes[0] = std::byte{1};
  EXPECT_FALSE(ArgumentBlock::over(bytes).ok());
}

TEST(ClientRanges, FindWhatLiesInOneOfThem) {
  ClientRanges<4> ranges;
  ASSERT_TRUE(ranges.add({.begin = 1000, .bytes = 100, .home = 5000, .writable = true}).ok());
  ASSERT_TRUE(ranges.add({.begin = 1100, .bytes = 100, .home = 9000, .writable = false}).ok());
  EXPECT_EQ(ranges.find(1010, 90, Access::write).value(), 5010u);
  EXPECT_EQ(ranges.find(1199, 1, Access::read).value(), 9099u);
  EXPECT_FALSE(ranges.find(1199, 1, Access::write).ok());
  EXPECT_FALSE(ranges.find(1090, 20, Access::read).ok());  // neighbours for the client, strangers here
  EXPECT_FALSE(ranges.find(999, 1, Access::read).ok());
  EXPECT_FALSE(ranges.find(1200, 1, Access::read).ok());
  EXPECT_FALSE(ranges.find(1010, ~std::uint64_t{0}, Access::read).ok());
}

TEST(ClientRanges, DoNotOverlap) {
  ClientRanges<3> ranges;
  ASSERT_TRUE(ranges.add({1000, 100, 0, true}).ok());
  EXPECT_FALSE(ranges.add({1000, 1, 0, true}).ok());
  EXPECT_FALSE(ranges.add({1099, 10, 0, true}).ok());
  EXPECT_FALSE(ranges.add({900, 101, 0, true}).ok());
  EXPECT_FALSE(ranges.add({900, 0, 0, true}).ok());
  EXPECT_FALSE(ranges.add({~std::uint64_t{0}, 2, 0, true}).ok());
  EXPECT_TRUE(ranges.add({900, 100, 0, true}).ok());
  EXPECT_TRUE(ranges.add({1100, 100, 0, true}).ok());
  EXPECT_FALSE(ranges.add({5000, 100, 0, true}).ok());  // full
  EXPECT_FALSE(ranges.remove(901).ok());
  EXPECT_EQ(ranges.remove(900).value().bytes, 100u);
  EXPECT_TRUE(ranges.add({5000, 100, 0, true}).ok());
  EXPECT_EQ(ranges.find(1000, 100, Access::write).value(), 0u);
}

}  // namespace
}  // namespace ingot::accelerator
