#include "base/image/network_settings.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot {
namespace {

using Source = AddressSettings::Source;

InternetAddress of_four(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {.bytes = {a, b, c, d}, .count = 4};
}

std::string bytes_of(std::string_view text) {
  const std::optional<InternetAddress> address = parse_internet_address(text);
  if (!address) return "none";
  std::string digits;
  for (std::size_t i = 0; i < address->count; ++i) {
    constexpr const char* letters = "0123456789abcdef";
    digits += {letters[address->bytes[i] >> 4], letters[address->bytes[i] & 15]};
  }
  return digits;
}

TEST(InternetAddress, IsReadAsItIsSpelled) {
  EXPECT_EQ(bytes_of("192.0.2.1"), "c0000201");
  EXPECT_EQ(bytes_of("0.0.0.0"), "00000000");
  EXPECT_EQ(bytes_of("255.255.255.255"), "ffffffff");
  EXPECT_EQ(bytes_of("::"), std::string(32, '0'));
  EXPECT_EQ(bytes_of("::1"), std::string(31, '0') + '1');
  EXPECT_EQ(bytes_of("2001:DB8::a0"), "20010db8" + std::string(22, '0') + "a0");
  EXPECT_EQ(bytes_of("1:2:3:4:5:6:7:8"), "00010002000300040005000600070008");
  EXPECT_EQ(bytes_of("1:2:3:4:5:6:7::"), "00010002000300040005000600070000");
  EXPECT_EQ(bytes_of("::2:3:4:5:6:7:8"), "00000002000300040005000600070008");
  EXPECT_EQ(bytes_of("fe80::1:2"), "fe80" + std::string(20, '0') + "00010002");
}

TEST(InternetAddress, OtherTextsAreNone) {
  for (const char* text : {"",
                           "1",
                           "1.2.3",
                           "1.2.3.4.5",
                           "1.2.3.4.",
                           ".1.2.3.4",
                           "256.0.0.1",
                           "01.2.3.4",
                           "1.2.3.-4",
                           "1.2.3. 4",
                           "1.2.3.1000",
                           "1.2.3.a",
                           ":",
                           ":::",
                           "1:",
                           ":1",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7:8::",
                           "1::2::3",
                           "12345::",
                           "g::",
                           "::1.2.3.4",
                           "fe80::1%eth0",
                           "[::1]",
                           "1:2:3:4::5:6:7:8"}) {
    EXPECT_EQ(bytes_of(text), "none") << text;
  }
}

TEST(NetworkSettings, EveryWayToAnAddress) {
  NetworkSettings settings;
  ASSERT_TRUE(settings.add("dhcp").ok());
  ASSERT_TRUE(settings.add("slaac").ok());
  EXPECT_EQ(settings.version_4.source, Source::automatic);
  EXPECT_EQ(settings.version_6.source, Source::automatic);

  NetworkSettings fixed;
  ASSERT_TRUE(fixed.add("192.0.2.10/24,192.0.2.1,192.0.2.53,2001:db8::53").ok());
  ASSERT_TRUE(fixed.add("2001:db8::10/64,fe80::1").ok());
  EXPECT_EQ(fixed.version_4.source, Source::fixed);
  EXPECT_EQ(fixed.version_4.prefix, 24);
  EXPECT_EQ(fixed.version_4.address, of_four(192, 0, 2, 10));
  EXPECT_EQ(fixed.version_4.gateway, of_four(192, 0, 2, 1));
  ASSERT_EQ(fixed.version_4.servers().size(), 2u);
  EXPECT_EQ(fixed.version_4.servers()[0], of_four(192, 0, 2, 53));
  EXPECT_TRUE(fixed.version_4.servers()[1].is_version_6());
  EXPECT_EQ(fixed.version_6.prefix, 64);
  EXPECT_EQ(fixed.version_6.gateway, *parse_internet_address("fe80::1"));
  EXPECT_TRUE(fixed.version_6.servers().empty());
}

TEST(NetworkSettings, WhatDoesNotHoldTogetherIsRefused) {
  const auto complaint = [](std::string_view line) {
    NetworkSettings settings;
    const Result<void> added = settings.add(line);
    return added.ok() ? std::string("none") : std::string(added.error().text());
  };
  const auto begins = [&](std::string_view line, std::string_view expected) {
    EXPECT_TRUE(complaint(line).starts_with("expected " + std::string(expected))) << line << ": " << complaint(line);
  };
  EXPECT_EQ(complaint("DHCP"),
            "expected an address that one machine can have, found 'DHCP': dhcp, slaac, or "
            "ADDRESS/PREFIX,GATEWAY[,NAMESERVER...]");
  for (const char* line : {"", "dhcp,", "192.0.2.10/24,192.0.2.1,"}) begins(line, "a way to get an address");
  for (const char* line :
       {"0.0.0.0/8,0.0.0.1", "127.0.0.1/8,127.0.0.2", "224.0.0.1/4,224.0.0.2", "255.255.255.255/8,1.1.1.1",
        "::1/64,::2", "::ffff:1:2/64,fe80::1", "ff02::1/64,fe80::1", "dhcp slaac"}) {
    begins(line, "an address that one machine can have");
  }
  for (const char* line : {"192.0.2.10", "192.0.2.10,192.0.2.1", "192.0.2.10/,192.0.2.1", "192.0.2.10/0,192.0.2.1",
                           "192.0.2.10/33,192.0.2.1", "192.0.2.10/024,192.0.2.1", "2001:db8::1/129,fe80::1",
                           "192.0.2.10/24/24,192.0.2.1", "192.0.2.10/-1,192.0.2.1"}) {
    begins(line, "/ and the bits of the prefix");
  }
  for (const char* line : {"192.0.2.0/24,192.0.2.1", "192.0.2.255/24,192.0.2.1"})
    begins(line, "an address that is neither");
  for (const char* line : {"192.0.2.10/24", "192.0.2.10/24,,192.0.2.1", "192.0.2.10/24,192.0.2.10",
                           "192.0.2.10/24,192.0.3.1", "192.0.2.10/24,192.0.2.255", "192.0.2.10/24,fe80::1",
                           "192.0.2.10/32,192.0.2.11", "2001:db8::1/64,2001:db8:0:1::1", "192.0.2.10/25,192.0.2.129",
                           "2001:db8::1/64,192.0.2.1", "192.0.2.10/24, 192.0.2.1"}) {
    begins(line, "a gateway");
  }
  for (const char* line :
       {"192.0.2.10/24,192.0.2.1,x", "192.0.2.10/24,192.0.2.1,0.0.0.0", "192.0.2.10/24,192.0.2.1,1.1.1.1,,8.8.8.8",
        "192.0.2.10/24,192.0.2.1,1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4"}) {
    begins(line, "at most 3 addresses of name servers");
  }
  EXPECT_EQ(complaint("192.0.2.0/31,192.0.2.1"), "none");
  EXPECT_EQ(complaint("192.0.2.10/24,192.0.2.1,1.1.1.1,1.1.1.2,1.1.1.3"), "none");
}

TEST(NetworkSettings, EachVersionOnce) {
  NetworkSettings settings;
  ASSERT_TRUE(settings.add("192.0.2.10/24,192.0.2.1").ok());
  EXPECT_TRUE(std::string_view(settings.add("dhcp").error().text()).starts_with("expected one way to an address"));
  ASSERT_TRUE(settings.add("slaac").ok());
  EXPECT_FALSE(settings.add("2001:db8::10/64,fe80::1").ok());
  EXPECT_EQ(settings.version_4.source, Source::fixed);
}

TEST(NetworkSettings, AreReadFromAManifest) {
  const Manifest manifest =
      Manifest::parse("ingot manifest 1\nprogram /a\nnetwork dhcp\ngrant network\nnetwork slaac\n").value();
  EXPECT_EQ(network_settings_of(manifest).value().version_6.source, Source::automatic);
  const Manifest broken = Manifest::parse("ingot manifest 1\nprogram /a\ngrant network\nnetwork \\\\n\n").value();
  EXPECT_TRUE(std::string_view(network_settings_of(broken).error().text()).starts_with("manifest, line 4: expected"));
  const Manifest refused = Manifest::parse("ingot manifest 1\nprogram /a\nnetwork dhcp\n").value();
  EXPECT_EQ(network_settings_of(refused).error().text(),
            "manifest, line 3: expected 'grant network' beside 'network', found none");
  const Manifest none = Manifest::parse("ingot manifest 1\nprogram /a\ngrant network\n").value();
  EXPECT_EQ(network_settings_of(none).value().version_4.source, Source::none);
}

}  // namespace
}  // namespace ingot
