#include "image/emulator_network.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "image/fake_images.h"

namespace ingot::image {
namespace {

// An image whose program may use a network, in a folder.
BootRequest networked_image(const TestFolder& folder, const std::vector<std::string>& network) {
  CastRequest cast_request = small_request(folder);
  cast_request.kernels = {folder.put("kernel", fake_kernel(1, {GrantNote("network")}))};
  cast_request.rights = {"network"};
  cast_request.network = network;
  EXPECT_TRUE(cast(cast_request).ok());
  BootRequest request;
  request.image = folder.path("an,image");
  return request;
}

TEST(EmulatorNetwork, AnImageThatMayUseANetworkHasOne) {
  const TestFolder folder;
  BootRequest request = networked_image(folder, {"dhcp"});
  const std::string alone = words_of(request);
  for (const char* expected : {"-machine\nmicrovm\n", "-netdev\nuser,id=network\n",
                               "-global\nvirtio-mmio.force-legacy=false\n-device\nvirtio-net-device,netdev=network\n",
                               "-device\nvirtio-rng-device\n"}) {
    EXPECT_NE(alone.find(expected), std::string::npos) << expected << alone;
  }
  EXPECT_EQ(alone.find("filter-dump"), std::string::npos);
  request.machine = "q35";
  request.network.ports = {parse_published_port("8080:80").value(), parse_published_port("0.0.0.0:9:10").value()};
  request.network.capture = folder.path("a,b.pcap");
  const std::string published = words_of(request);
  for (const std::string& expected :
       {std::string("user,id=network,hostfwd=tcp:127.0.0.1:8080-:80,hostfwd=tcp:0.0.0.0:9-:10\n"),
        std::string("-machine\nq35\n"), std::string("-device\nvirtio-net-pci,netdev=network,romfile=\n"),
        std::string("-device\nvirtio-rng-pci\n"),
        "-object\nfilter-dump,id=capture,netdev=network,file=" + folder.path("a,,b.pcap") + '\n'}) {
    EXPECT_NE(published.find(expected), std::string::npos) << expected << published;
  }
  EXPECT_EQ(published.find("force-legacy"), std::string::npos);
}

TEST(EmulatorNetwork, TheEmulatorsNetworkIsTheOneThatAFixedAddressIsIn) {
  const TestFolder folder;
  BootRequest request = networked_image(folder, {"192.0.2.3/24,192.0.2.1,2001:db8::53", "2001:db8::10/64,2001:db8::1"});
  request.network.ports = {parse_published_port("8080:80").value()};
  const std::string words = words_of(request);
  EXPECT_NE(words.find("user,id=network,net=192.0.2.0/24,host=192.0.2.1,dns=192.0.2.2,dhcpstart=192.0.2.3,"
                       "ipv6-prefix=2001:db8::,ipv6-prefixlen=64,ipv6-host=2001:db8::1,"
                       "hostfwd=tcp:127.0.0.1:8080-192.0.2.3:80\n"),
            std::string::npos)
      << words;
  request = networked_image(folder, {"10.1.2.3/20,10.1.0.1,10.1.0.53", "2001:db8::10/64,fe80::1"});
  const std::string told = words_of(request);
  EXPECT_NE(told.find("user,id=network,net=10.1.0.0/20,host=10.1.0.1,dns=10.1.0.53,dhcpstart=10.1.2.3,"
                      "ipv6-prefix=2001:db8::,ipv6-prefixlen=64\n"),
            std::string::npos)
      << told;
}

TEST(EmulatorNetwork, ALinksOwnAddressesAreNotThoseThatBeginLikeThem) {
  const TestFolder folder;
  const std::string words = words_of(networked_image(folder, {"fec0::10/64,fec0::1"}));
  EXPECT_NE(words.find(",ipv6-prefix=fec0::,ipv6-prefixlen=64,ipv6-host=fec0::1\n"), std::string::npos) << words;
}

// Which a tap has nothing against.
TEST(EmulatorNetwork, WhatTheEmulatorsOwnNetworkCannotBeIsRefusedByItsAddress) {
  const TestFolder folder;
  for (const char* address : {"10.0.0.1/3,10.0.0.2", "2001:db8::/127,2001:db8::1", "2001:db8::1/128,fe80::1",
                              "2001:db8::2/64,fe80::1", "2001:db8::3/64,2001:db8::1"}) {
    BootRequest request = networked_image(folder, {address});
    const std::string words = words_of(request);
    const std::string found =
        " in the emulator's own network, found " + std::string(address).substr(0, std::string(address).find(','));
    EXPECT_NE(words.find(found + " in the image: boot it with --tap"), std::string::npos) << address << ": " << words;
    EXPECT_EQ(plan_boot(request).error().code(), ErrorCode::invalid_argument);
    request.network.tap = "tap-of-nobody";
    EXPECT_TRUE(plan_boot(request).ok()) << address;
  }
  for (const char* address :
       {"10.0.0.1/4,10.0.0.2", "2001:db8::1/126,2001:db8::2", "2001:db8::2/64,2001:db8::1", "10.0.0.0/31,10.0.0.1"}) {
    EXPECT_TRUE(plan_boot(networked_image(folder, {address})).ok()) << address;
  }
}

TEST(EmulatorNetwork, AnInterfaceOfTheHostIsTheGuestsNetwork) {
  const TestFolder folder;
  BootRequest request = networked_image(folder, {"slaac"});
  request.network.tap = "tap0";
  const std::string words = words_of(request);
  EXPECT_NE(words.find("-netdev\ntap,id=network,ifname=tap0,script=no,downscript=no,vhost=off\n"), std::string::npos)
      << words;
  request.network.capture = "frames";
  const std::string kept = words_of(request);
  EXPECT_NE(kept.find(",vhost=off,vnet_hdr=off\n"), std::string::npos) << kept;
}

TEST(EmulatorNetwork, NamesOfInterfacesAndFilesAreReadStrictly) {
  for (const char* name : {"tap0", "a", "fifteen-letters", "a.b"}) EXPECT_TRUE(check_interface_name(name).ok()) << name;
  for (const char* name : {"", ".", "..", "sixteen--letters", "a/b", "a b", "a:0", "a\n"}) {
    EXPECT_FALSE(check_interface_name(name).ok()) << name;
  }
  const TestFolder folder;
  EXPECT_TRUE(check_capture("frames.pcap").ok());
  EXPECT_TRUE(check_capture(folder.path("frames.pcap")).ok());
  for (const std::string& path : {std::string(), folder.path("none/frames.pcap"), folder.path(""), std::string("/")}) {
    EXPECT_FALSE(check_capture(path).ok()) << path;
  }
  if (::geteuid() == 0) return;  // who may write everywhere
  EXPECT_FALSE(check_capture("/proc/frames.pcap").ok());
  EXPECT_FALSE(check_capture("/proc/version").ok());
}

TEST(EmulatorNetwork, AnInterfaceThatIsNotThereOrIsNoTapIsNamed) {
  EXPECT_EQ(find_tap("tap-of-nobody").error().text(),
            "--tap: expected an interface 'tap-of-nobody' of this machine, found none: ip tuntap add dev tap-of-nobody "
            "mode tap, then ip link set tap-of-nobody up");
  EXPECT_EQ(
      find_tap("lo").error().text(),
      "--tap: expected a tap, found 'lo', an interface of another kind: ip tuntap add dev tap0 mode tap makes one");
  const TestFolder folder;
  BootRequest request = networked_image(folder, {"dhcp"});
  request.network.tap = "lo";
  EXPECT_EQ(plan_boot(request).error().code(), ErrorCode::invalid_argument);
}

TEST(EmulatorNetwork, NetworksThatCannotBeAreRefused) {
  const TestFolder folder;
  BootRequest request = networked_image(folder, {"slaac"});
  request.network.ports = {parse_published_port("8080:80").value()};
  EXPECT_NE(words_of(request).find("--publish: expected an image that was cast with an address of IPv4"),
            std::string::npos);
  ASSERT_TRUE(cast(small_request(folder)).ok());
  for (const NetworkRequest& asked : {NetworkRequest{.ports = request.network.ports, .tap = {}, .capture = {}},
                                      NetworkRequest{.ports = {}, .tap = "tap0", .capture = {}},
                                      NetworkRequest{.ports = {}, .tap = {}, .capture = "f"}}) {
    request.network = asked;
    EXPECT_NE(words_of(request).find("expected an image that was cast with --grant network"), std::string::npos);
  }
  request.network = {};
  EXPECT_EQ(words_of(request).find("-netdev"), std::string::npos);
}

TEST(EmulatorNetwork, PublishedPortsAreReadStrictly) {
  const PublishedPort port = parse_published_port("127.0.0.2:1:65535").value();
  EXPECT_EQ(port.host, "127.0.0.2");
  EXPECT_EQ(port.port, 1);
  EXPECT_EQ(port.guest_port, 65535);
  for (const char* text : {"", "80", ":", "80:", ":80", "0:80", "80:0", "80:65536", "-1:80", "80: 80", "a:80:80",
                           ":80:80", "127.0.0.1:80", "[::1]:80:80", "::1:80:80", "localhost:80:80", "1.2.3.4:5:6:7"}) {
    EXPECT_FALSE(parse_published_port(text).ok()) << text;
  }
}

TEST(EmulatorNetwork, APortThatSomebodyHasIsNamed) {
  const int taken = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  ASSERT_EQ(::bind(taken, reinterpret_cast<const sockaddr*>(&address), bytes), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const PublishedPort published = parse_published_port(port + ":80").value();
  EXPECT_EQ(check_port_is_free("--publish", published).error().text(),
            "--publish: expected 127.0.0.1:" + port + " to be free on this machine, found: Address already in use");
  ::close(taken);
  EXPECT_TRUE(check_port_is_free("--publish", published).ok());
}

TEST(EmulatorNetwork, APortIsPublishedOnce) {
  const auto differ = [](const std::vector<const char*>& texts) {
    std::vector<PublishedPort> ports;
    for (const char* text : texts) ports.push_back(parse_published_port(text).value());
    const Result<void> result = check_ports_differ(ports);
    return result.ok() ? std::string() : std::string(result.error().text());
  };
  EXPECT_EQ(differ({}), "");
  EXPECT_EQ(differ({"80:1", "81:1", "127.0.0.2:80:1"}), "");
  EXPECT_EQ(differ({"80:1", "81:1", "80:2"}),
            "expected every port of this machine once, found 127.0.0.1:80 and 127.0.0.1:80: publish one of them at "
            "another port");
  EXPECT_NE(differ({"80:1", "0.0.0.0:80:2"}), "");
  EXPECT_NE(differ({"0.0.0.0:80:1", "127.0.0.2:80:2"}), "");
}

}  // namespace
}  // namespace ingot::image
