#include "tests/network/wire_packet.h"

#include <gtest/gtest.h>

#include "tests/network/icmp.h"

namespace ingot::network_scripts {
namespace {

WirePacket some_packet(bool is_v4) {
  WirePacket packet;
  packet.from = {is_v4 ? IpAddress::v4(192, 168, 0, 1) : IpAddress(IpAddress::V6{0xfd, 1, 2, 3}), 8080};
  packet.to = {is_v4 ? IpAddress::v4(192, 0, 2, 1) : IpAddress(IpAddress::V6{0x20, 1, 0xd, 0xb8}), 32768};
  packet.service = 0x28;
  packet.hop_limit = 7;
  packet.flags = TcpFlag::push | TcpFlag::acknowledge | TcpFlag::accurate;
  packet.sequence = 0xfffffff0;
  packet.acknowledged = 12345;
  packet.window = 65535;
  packet.urgent = 9;
  packet.payload = {1, 2, 3, 4, 5};
  packet.options = {{.kind = TcpOption::segment_size, .numbers = {1460}, .bytes = {}},
                    {.kind = TcpOption::window_scale, .numbers = {6}, .bytes = {}},
                    {.kind = TcpOption::no_operation, .numbers = {}, .bytes = {}},
                    {.kind = TcpOption::sack, .numbers = {1, 2, 3, 4}, .bytes = {}},
                    {.kind = TcpOption::fast_open, .numbers = {}, .bytes = {7, 8}},
                    {.kind = TcpOption::end_of_list, .numbers = {}, .bytes = {}},
                    {.kind = TcpOption::end_of_list, .numbers = {}, .bytes = {}}};
  return packet;
}

TEST(WirePacket, ComesBackFromItsBytes) {
  for (const bool is_v4 : {true, false}) {
    const WirePacket packet = some_packet(is_v4);
    const Bytes bytes = to_bytes(packet);
    const Result<WirePacket> back = from_bytes(bytes);
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(back.value().from, packet.from);
    EXPECT_EQ(back.value().to, packet.to);
    EXPECT_EQ(back.value().service, packet.service);
    EXPECT_EQ(back.value().hop_limit, packet.hop_limit);
    EXPECT_EQ(back.value().flags, packet.flags);
    EXPECT_EQ(back.value().payload, packet.payload);
    EXPECT_EQ(back.value().options, packet.options);
    EXPECT_EQ(as_script(back.value()), as_script(packet));
  }
}

TEST(WirePacket, HasTheChecksumsOfTheRfcs) {
  // From 127.0.0.1:1 to 127.0.0.1:2; the sums by hand (RFC 1071).
  WirePacket packet;
  packet.from = {IpAddress::v4(127, 0, 0, 1), 1};
  packet.to = {IpAddress::v4(127, 0, 0, 1), 2};
  packet.hop_limit = 64;
  packet.flags = TcpFlag::syn;
  const Bytes bytes = to_bytes(packet);
  EXPECT_EQ(bytes[10] << 8 | bytes[11], 0x7cce);  // ~(4500 + 0028 + 4006 + 7f00 + 0001 + 7f00 + 0001)
  EXPECT_EQ(bytes[36] << 8 | bytes[37], 0xb1dd);  // ~(7f00 + 1 + 7f00 + 1 + 6 + 14 + 1 + 2 + 5002)
}

TEST(WirePacket, EveryDamagedBitIsSeenOrInAField) {
  for (const bool is_v4 : {true, false}) {
    const Bytes whole = to_bytes(some_packet(is_v4));
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      Bytes damaged = whole;
      damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ 1u << bit % 8);
      const Result<WirePacket> back = from_bytes(damaged);
      const bool is_uncovered = !is_v4 && (bit < 32 || bit / 8 == 7);  // class, flow and hop limit have no sum
      EXPECT_TRUE(is_uncovered || !back.ok()) << "bit " << bit;
    }
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_FALSE(from_bytes(std::span(whole).first(length)).ok()) << length;
    }
  }
}

TEST(WirePacket, IsWrittenAsScriptsHaveIt) {
  EXPECT_EQ(as_script(some_packet(true)),
            "PN. 4294967280:4294967285(5) ack 12345 win 65535 urg 9 <mss 1460,wscale 6,nop,sack 1:2 3:4,option 34 of 2 "
            "bytes,eol,eol>");
}

TEST(IcmpMessage, CarriesThePacketThatItIsAbout) {
  PacketLine line;
  line.icmp_type = "unreachable";
  line.icmp_code = "frag_needed";
  line.icmp_mtu = 1234;
  const WirePacket ours = some_packet(true);
  const Result<WirePacket> message = icmp_message(line, ours);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message.value().to.address, ours.from.address);
  EXPECT_EQ(message.value().icmp_type, 3);
  EXPECT_EQ(message.value().icmp_code, 4);
  EXPECT_EQ(message.value().icmp_rest, 1234u);
  EXPECT_EQ(message.value().payload, to_bytes(ours));
  EXPECT_TRUE(from_bytes(to_bytes(message.value())).ok());
  line.icmp_code = "code_13";
  EXPECT_EQ(icmp_message(line, ours).value().icmp_code, 13);
  line.icmp_code = "nonsense";
  EXPECT_FALSE(icmp_message(line, ours).ok());
  line.icmp_type = "parameter_problem";
  line.icmp_code = "unknown_next_header";
  EXPECT_EQ(icmp_message(line, some_packet(false)).value().icmp_type, 4);
}

}  // namespace
}  // namespace ingot::network_scripts
