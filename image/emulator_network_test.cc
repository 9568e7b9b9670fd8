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
}

TEST(EmulatorNetwork, AnInterfaceThatIsNotThereIsNamed) {
  EXPECT_EQ(find_tap("tap-of-nobody").error().text(),
            "--tap: expected an interface 'tap-of-nobody' of this machine, found none: ip tuntap add dev tap-of-nobody "
            "mode tap, then ip link set tap-of-nobody up");
  const Result<TapInterface> loop = find_tap("lo");
  ASSERT_TRUE(loop.ok());
  EXPECT_GT(loop.value().mtu, 1500);
  EXPECT_FALSE(loop.value().has_queues);
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
  const std::vector<PublishedPort> ports = {parse_published_port(port + ":80").value()};
  EXPECT_EQ(check_ports_are_free(ports).error().text(),
            "--publish: expected 127.0.0.1:" + port + " to be free on this machine, found: Address already in use");
  ::close(taken);
  EXPECT_TRUE(check_ports_are_free(ports).ok());
}

}  // namespace
}  // namespace ingot::image
