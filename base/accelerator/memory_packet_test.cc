#include "base/accelerator/memory_packet.h"

#include <gtest/gtest.h>

#include <bit>

namespace ingot::accelerator {
namespace {

constexpr std::uint64_t page = page_bytes;

std::string_view code_of_refusal(const VendorPacket& packet) {
  const Result<MemoryCommand> decoded = decode_memory(packet);
  return decoded.ok() ? "understood" : name_of(decoded.error().code());
}

constexpr std::array right_ones = {
    memory_packet(MemoryCode::map, {4 * page, 8 * page, page, 0}, 1, right_write),
    memory_packet(MemoryCode::unmap, {4 * page, 0, 0, 0}, 2),
    memory_packet(MemoryCode::adopt, {}, 3),
    memory_packet(MemoryCode::locate, {0, 16 * page, 3 * page, 77}, 4),
    memory_packet(MemoryCode::map_pieces, {4 * page, 8 * page, 2 * page, 8}, 5),
};

TEST(MemoryPacket, IsUnderstoodAsItWasMade) {
  const MemoryCommand map = decode_memory(right_ones[0]).value();
  EXPECT_EQ(map.code, MemoryCode::map);
  EXPECT_TRUE(map.writable);
  EXPECT_EQ(map.offset, page);
  EXPECT_EQ(decode_memory(right_ones[1]).value().address, 4 * page);
  EXPECT_EQ(decode_memory(right_ones[2]).value().tag, 3u);
  const MemoryCommand locate = decode_memory(right_ones[3]).value();
  EXPECT_EQ(locate.frame, 3 * page);
  EXPECT_EQ(locate.nonce, 77u);
  const MemoryCommand pieces = decode_memory(right_ones[4]).value();
  EXPECT_EQ(pieces.table, 2 * page);
  EXPECT_EQ(pieces.pieces, 8u);
  EXPECT_FALSE(pieces.writable);
}

// A changed bit is another packet that is right, or is refused.
TEST(MemoryPacket, HasNoBitThatNobodyLooksAt) {
  for (const VendorPacket& right : right_ones) {
    const MemoryCommand before = decode_memory(right).value();
    const auto words = std::bit_cast<std::array<std::uint64_t, 8>>(right);
    for (std::size_t bit = 0; bit < 512; ++bit) {
      auto changed = words;
      changed[bit / 64] ^= std::uint64_t{1} << (bit % 64);
      const Result<MemoryCommand> after = decode_memory(std::bit_cast<VendorPacket>(changed));
      if (!after.ok()) continue;
      const MemoryCommand& other = after.value();
      EXPECT_TRUE(before.code != other.code || before.tag != other.tag || before.address != other.address ||
                  before.bytes != other.bytes || before.offset != other.offset || before.writable != other.writable ||
                  before.frame != other.frame || before.nonce != other.nonce || before.table != other.table ||
                  before.pieces != other.pieces)
          << "bit " << bit;
    }
  }
}

TEST(MemoryPacket, IsRefusedWhereItCannotBe) {
  const auto refusal = [](MemoryCode code, std::array<std::uint64_t, 4> operands, std::uint32_t flags = 0) {
    return code_of_refusal(memory_packet(code, operands, 1, flags));
  };
  constexpr std::uint64_t last_page = ~std::uint64_t{page - 1};
  EXPECT_EQ(refusal(static_cast<MemoryCode>(0), {}), "invalid argument");
  EXPECT_EQ(refusal(static_cast<MemoryCode>(6), {}), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::map, {page, 0, 0, 0}), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::map, {page + 1, page, 0, 0}), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::map, {last_page, 2 * page, 0, 0}), "out of range");
  EXPECT_EQ(refusal(MemoryCode::map, {page, page, last_page, 0}), "out of range");
  EXPECT_EQ(refusal(MemoryCode::map, {page, page, 0, 0}, 2), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::unmap, {page, 0, 0, 0}, right_write), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::adopt, {1, 0, 0, 0}), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::locate, {page, page, page, 0}), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::locate, {page, page, 2 * page, 7}), "out of range");
  EXPECT_EQ(refusal(MemoryCode::locate, {page, page, 0, 7}), "out of range");
  EXPECT_EQ(refusal(MemoryCode::locate, {page, page, page + 8, 7}), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::map_pieces, {page, page, page, 0}), "out of range");
  EXPECT_EQ(refusal(MemoryCode::map_pieces, {page, page, page, most_pieces + 1}), "out of range");
  EXPECT_EQ(refusal(MemoryCode::map_pieces, {page, page, page + 16, 1}), "invalid argument");
  EXPECT_EQ(refusal(MemoryCode::map_pieces, {page, page, last_page, 1}), "out of range");
  EXPECT_EQ(code_of_refusal(VendorPacket{.header = packet_header(PacketType::dispatch)}), "invalid argument");
}

}  // namespace
}  // namespace ingot::accelerator
