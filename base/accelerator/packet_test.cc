#include "base/accelerator/packet.h"

#include <gtest/gtest.h>

#include <bit>

namespace ingot::accelerator {
namespace {

std::string_view code_of_refusal(const Packet& packet) {
  const Result<Command> decoded = decode(packet);
  return decoded.ok() ? "understood" : name_of(decoded.error().code());
}

TEST(Packet, LiesAsAqlLaysItOut) {
  const Packet packet = dispatch_packet(0x1122334455667788, 0x1000, 7);
  const auto bytes = std::bit_cast<std::array<std::uint8_t, 64>>(packet);
  EXPECT_EQ(bytes[0], 2);
  EXPECT_EQ(bytes[1], 0x15);  // barrier, acquire and release for the whole system
  EXPECT_EQ(bytes[2], 1);
  EXPECT_EQ(bytes[32], 0x88);
  EXPECT_EQ(bytes[41], 0x10);
  EXPECT_EQ(bytes[56], 7);
}

TEST(Packet, IsUnderstoodAsItWasMade) {
  const Command dispatch = decode(dispatch_packet(5, 64, 9, true)).value();
  EXPECT_EQ(dispatch.kind, CommandKind::dispatch);
  EXPECT_EQ(dispatch.contract, 5u);
  EXPECT_EQ(dispatch.address, 64u);
  EXPECT_EQ(dispatch.tag, 9u);
  EXPECT_TRUE(dispatch.alone);
  EXPECT_EQ(decode(barrier_packet(3)).value().tag, 3u);
  const Command list = decode(vendor_packet(VendorCode::record_list, {8, 64, 3, 0}, 1)).value();
  EXPECT_EQ(list.list, 8u);
  EXPECT_EQ(list.list_count, 3u);
}

// A changed bit is another packet that is right, or is refused; reserved ones are refused.
TEST(Packet, HasNoBitThatNobodyLooksAt) {
  for (const Packet& right :
       {dispatch_packet(5, 64, 9), barrier_packet(3), vendor_packet(VendorCode::fill, {1, 2, 3, 0}, 4),
        vendor_packet(VendorCode::execute_list, {6, 0, 0, 0}, 1)}) {
    const auto words = std::bit_cast<std::array<std::uint64_t, 8>>(right);
    for (std::size_t bit = 0; bit < 512; ++bit) {
      auto changed = words;
      changed[bit / 64] ^= std::uint64_t{1} << (bit % 64);
      const Result<Command> before = decode(right);
      const Result<Command> after = decode(std::bit_cast<Packet>(changed));
      const bool is_order = bit >= 8 && bit <= 12;  // barrier and fences, which are kept in any case
      if (!after.ok() || is_order) continue;
      const Command &a = before.value(), &b = after.value();
      EXPECT_TRUE(a.kind != b.kind || a.tag != b.tag || a.contract != b.contract || a.alone != b.alone ||
                  a.address != b.address || a.bytes != b.bytes || a.value != b.value || a.list != b.list)
          << "bit " << bit;
    }
  }
}

TEST(Packet, IsRefusedWhereItCannotBe) {
  EXPECT_EQ(code_of_refusal(Packet()), "unsupported");
  EXPECT_EQ(code_of_refusal(dispatch_packet(1, 3, 1)), "invalid argument");
  EXPECT_EQ(code_of_refusal(vendor_packet(static_cast<VendorCode>(6), {}, 1)), "invalid argument");
  EXPECT_EQ(code_of_refusal(vendor_packet(VendorCode::copy, {64, 100, 64, 0}, 1)), "invalid argument");
  EXPECT_EQ(code_of_refusal(vendor_packet(VendorCode::fill, {64, 64, 256, 0}, 1)), "invalid argument");
  EXPECT_EQ(code_of_refusal(vendor_packet(VendorCode::record_list, {1, 64, most_listed + 1, 0}, 1)), "out of range");
  EXPECT_EQ(code_of_refusal(vendor_packet(VendorCode::record_list, {1, 64, 0, 0}, 1)), "out of range");
}

}  // namespace
}  // namespace ingot::accelerator
