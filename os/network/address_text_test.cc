#include "os/network/address_text.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace ingot::os::network {
namespace {

std::string text_of(const IpAddress& address) { return std::string(AddressText(address).view()); }

TEST(AddressTextTest, IsWhatTheCLibraryWrites) {
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    IpAddress::V6 bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0);
    bytes[0] |= 0x20;  // of addresses that begin with zeros it writes the end as of IPv4
    char expected[INET6_ADDRSTRLEN];
    ASSERT_NE(inet_ntop(AF_INET6, bytes.data(), expected, sizeof expected), nullptr);
    ASSERT_EQ(text_of(IpAddress(bytes)), expected);
    const IpAddress::V4 four{bytes[0], bytes[5], bytes[9], bytes[15]};
    ASSERT_NE(inet_ntop(AF_INET, four.data(), expected, sizeof expected), nullptr);
    ASSERT_EQ(text_of(IpAddress(four)), expected);
  }
  EXPECT_EQ(text_of(IpAddress()), "::");
  EXPECT_EQ(text_of(IpAddress(IpAddress::V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})), "::1");
}

}  // namespace
}  // namespace ingot::os::network
