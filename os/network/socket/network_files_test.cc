// What /proc/net and /etc/resolv.conf say, letter by letter: Linux's programs read them.
#include <iterator>
#include <set>
#include <sstream>

#include "os/file/file_tree.h"
#include "os/network/internet/test_network.h"
#include "os/network/socket/network_files.h"
#include "os/network/socket/socket_files_fixture.h"

namespace ingot::os::network {
namespace {

class NetworkFilesTest : public SocketFilesFixture {
 protected:
  std::string text_of(TextFunction write) {
    TextWriter text(machine_.heap);
    write(text, {&stack_, 0});
    return std::string(text.finish().value());
  }
  std::string content(std::string_view wanted) {
    for (const auto rows : {socket_tables(), interface_tables(), counter_tables()}) {
      for (const TextFileRow& row : rows) {
        if (row.name == wanted) return text_of(row.write);
      }
    }
    ADD_FAILURE() << "there is no " << wanted;
    return "";
  }
  void add_link(const Configuration& wanted) {
    ASSERT_TRUE(stack_.drive([&](Stack& stack) { return stack.add(link_, wanted); }).ok());
    stack_.drive([](Stack& stack) { stack.run_timers(); });
  }
  // Of both versions, with name servers of both.
  static Configuration fixed() {
    Configuration wanted;
    wanted.addresses.push_back({IpAddress::v4(192, 0, 2, 10), 24});
    wanted.addresses.push_back(
        {IpAddress(IpAddress::V6{0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10}), 64});
    wanted.gateways.push_back(IpAddress::v4(192, 0, 2, 1));
    wanted.name_servers.push_back(IpAddress::v4(192, 0, 2, 53));
    wanted.name_servers.push_back(IpAddress(IpAddress::V6{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}));
    return wanted;
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  static std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
  }

  test::TestLink link_{1};
};

std::string padded(std::string line, std::size_t letters) {
  line.resize(letters, ' ');
  return line;
}

TEST_F(NetworkFilesTest, SocketsOfTcpStandInColumns) {
  const Reference<SocketFile> listens = stream(), everywhere = stream(six);
  ASSERT_TRUE(listens->bind(name(own_machine, 8080)).ok());
  ASSERT_TRUE(listens->listen(4).ok());
  ASSERT_TRUE(everywhere->bind(name(IpAddress(), 443, six)).ok());
  ASSERT_TRUE(everywhere->listen(4).ok());
  const Reference<SocketFile> client = stream();
  ASSERT_TRUE(client->connect(name(own_machine, 8080)).ok());
  std::vector<std::string> lines = lines_of(content("tcp"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], padded("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
                             "timeout inode",
                             149));
  EXPECT_EQ(lines[1], padded("   0: 0100007F:1F90 00000000:0000 0A 00000000:00000001 00:00000000 00000000     0        "
                             "0 0 1 0000000000000000",
                             149));
  const auto connections = std::set<std::string>{words_of(lines[2])[1], words_of(lines[3])[1]};
  EXPECT_TRUE(connections.contains("0100007F:1F90")) << "the one that waits for accept";
  EXPECT_EQ(words_of(lines[2])[3], "01");
  EXPECT_EQ(content("tcp6"),
            "  sl  local_address                         remote_address                        st tx_queue rx_queue tr "
            "tm->when retrnsmt   uid  timeout inode\n"
            "   0: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 00000000:00000000 "
            "00:00000000 00000000     0        0 0 1 0000000000000000\n");
  const Reference<SocketFile> served = listens->accept(0).value();
  EXPECT_TRUE(send(*client, "five!").ok());
  bool is_told = false;
  for (const std::string& line : lines_of(content("tcp"))) is_told |= line.find(" 00000000:00000005 ") != line.npos;
  EXPECT_TRUE(is_told) << "what waits to be read";
}

TEST_F(NetworkFilesTest, SocketsOfUdpStandInColumns) {
  const Reference<SocketFile> bound = datagrams(), both = datagrams(six);
  ASSERT_TRUE(bound->bind(name(own_machine, 53)).ok());
  ASSERT_TRUE(both->bind(name(IpAddress(), 5353, six)).ok());
  const std::vector<std::string> lines = lines_of(content("udp"));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], padded("   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
                             "timeout inode ref pointer drops",
                             127));
  EXPECT_EQ(lines[1],
            padded("    0: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        "
                   "0 0 2 0000000000000000 0",
                   127));
  EXPECT_EQ(lines_of(content("udp6"))[1].substr(0, 49), "    0: 00000000000000000000000000000000:14E9 0000");
}

TEST_F(NetworkFilesTest, InterfacesAndTheirWays) {
  add_link(fixed());
  const std::vector<std::string> devices = lines_of(content("dev"));
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(devices[0], "Inter-|   Receive                                                |  Transmit");
  EXPECT_EQ(devices[1].find('|', 10), devices[0].find('|', 10));
  EXPECT_EQ(devices[2],
            "    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0 "
            "    0       0          0");
  EXPECT_EQ(devices[3].substr(0, 7), "  eth0:");
  EXPECT_EQ(words_of(devices[3]).size(), 17u);
  EXPECT_NE(words_of(devices[3])[10], "0") << "it asked who has its address";
  EXPECT_EQ(content("route"),
            padded("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT", 127) + "\n" +
                padded("eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0", 127) + "\n" +
                padded("eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0", 127) + "\n");
  const std::string addresses = content("if_inet6");
  EXPECT_EQ(addresses.substr(0, 54), "00000000000000000000000000000001 01 80 10 80       lo\n");
  EXPECT_NE(addresses.find("\n20010db800000000000000000000000a 02 40 00 c0     eth0\n"), std::string::npos)
      << addresses;
}

TEST_F(NetworkFilesTest, EveryCounterHasItsName) {
  const Pair pair = connected();
  EXPECT_TRUE(send(*pair.client, "x").ok());
  const std::vector<std::string> snmp = lines_of(content("snmp"));
  ASSERT_EQ(snmp.size(), 8u);
  for (std::size_t i = 0; i < snmp.size(); i += 2) {
    EXPECT_EQ(words_of(snmp[i]).size(), words_of(snmp[i + 1]).size()) << snmp[i];
    EXPECT_EQ(words_of(snmp[i])[0], words_of(snmp[i + 1])[0]);
  }
  EXPECT_TRUE(snmp[5].starts_with("Tcp: 1 200 120000 -1 1 1 0 0 2 ")) << "two ends talk: " << snmp[5];
}

TEST_F(NetworkFilesTest, SocketsAreCounted) {
  const Pair pair = connected();
  const Reference<SocketFile> datagram = datagrams();
  ASSERT_TRUE(datagram->bind(name(own_machine, 0)).ok());
  EXPECT_EQ(content("sockstat"),
            "sockets: used 3\nTCP: inuse 2 orphan 0 tw 0 alloc 2 mem 0\nUDP: inuse 1 mem 0\nUDPLITE: inuse 0\n"
            "RAW: inuse 0\nFRAG: inuse 0 memory 0\n");
}

TEST_F(NetworkFilesTest, NameServersAreThoseOfTheMoment) {
  EXPECT_EQ(text_of(write_resolver), "");
  add_link(fixed());
  EXPECT_EQ(text_of(write_resolver), "nameserver 192.0.2.53\nnameserver fe80::3%eth0\n");
}

TEST_F(NetworkFilesTest, TheImagesOwnNameServersComeFirst) {
  Mutex names(LockRank::file_tree);
  services_.names = &names;
  const Reference<Volume> volume =
      make_reference<Volume>(machine_.heap, services_, std::uint64_t{1}, Volume::Writing::facts, Volume::Limits{})
          .value();
  NetworkFiles files(stack_);
  const TextFunction of_image = [](TextWriter& text, const TextSubject&) { text.add("of the image"); };
  for (const bool has_own : {false, true}) {
    const Reference<MemoryDirectory> root = make_reference<MemoryDirectory>(machine_.heap, volume, 0755u).value();
    FileTree tree(root, names);
    const Reference<MemoryDirectory> etc = add_directory(*root, "etc").value(),
                                     proc = add_directory(*root, "proc").value();
    const Reference<Node> own = make_text_file(volume, of_image, {}, 0444).value();
    ASSERT_TRUE(!has_own || etc->add("resolv.conf", NameStorage::borrowed, *own).ok());
    ASSERT_TRUE(files.add_to(tree, *proc).ok());
    for (const std::string_view path : {"/proc/net/tcp", "/proc/net/dev", "/proc/net/snmp"}) {
      EXPECT_TRUE(tree.find(tree.root(), path, LastLink::followed).ok()) << path;
    }
    const Reference<Node> found = tree.find(tree.root(), "/etc/resolv.conf", LastLink::followed).value();
    EXPECT_EQ(found.get() == own.get(), has_own);
  }
}

// Wherever memory ends, the file says so and nothing is left behind.
TEST_F(NetworkFilesTest, WithoutMemory) {
  const Reference<SocketFile> listens = listener();
  for (int left = 0; left < 3; ++left) {
    TextWriter text(machine_.heap);
    machine_.heap.left = left;
    for (const TextFileRow& row : socket_tables()) row.write(text, {&stack_, 0});
    machine_.heap.left = INT_MAX;
    EXPECT_EQ(text.finish().ok(), left == 2) << left;
  }
}

}  // namespace
}  // namespace ingot::os::network
