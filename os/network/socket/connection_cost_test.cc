// What a connection that only waits takes of the kernel's memory, counted in whole pages of the kernel's own heap:
// TCP's part, the socket as a file, its descriptor, its place in an epoll, and its share of all tables.
#include <gtest/gtest.h>

#include "os/file/channels/epoll.h"
#include "os/file/descriptor_table.h"
#include "os/memory/fake_memory.h"
#include "os/memory/slab_allocator.h"
#include "os/network/internet/test_network.h"
#include "os/network/socket/internet_address.h"
#include "os/network/socket/stream_socket.h"
#include "os/schedule/scheduler.h"

namespace ingot::os::network::cost {
namespace {

constexpr IpAddress ours = IpAddress::v4(192, 0, 2, 1), peer = IpAddress::v4(192, 0, 2, 9);
constexpr std::uint16_t served_port = 80;

struct StillTime final : TimeSource {
  Nanoseconds monotonic() override { return {}; }
  Nanoseconds realtime() override { return {}; }
};

// A machine whose heap is the kernel's.
struct SlabMachine final : Machine {
  Nanoseconds now() override { return time; }
  void fill_random(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }
  HeapBlocks& blocks() override { return its_blocks; }
  void wake_at(Nanoseconds) override {}

  FakeMemory memory{64 * mib};
  FrameAllocator frames = frames_of(memory);
  SlabAllocator heap{frames, memory.window(), Poison::off};
  SocketMemory sockets{heap, 16 * mib};
  HeapBlocks its_blocks{heap, &sockets};
  Nanoseconds time{1'000'000'000'000};
  std::mt19937 random{20261117};
};

class ConnectionCostTest : public ::testing::Test {
 protected:
  ConnectionCostTest() {
    arch::set_current_cpu(processor_);
    EXPECT_TRUE(stack_.drive([&](Stack& it) { return it.add(link_, test::TestHost::fixed(ours, 24)); }).ok());
    for (int step = 0; step < 10; ++step) {  // until the address is known to be nobody else's
      machine_.time += seconds(1);
      stack_.drive([](Stack& it) { it.run_timers(); });
    }
    SocketAddress at;
    write_endpoint({ours, served_port}, socket_family::internet, at);
    listener_ = StreamSocket::create(stack_, services_, socket_family::internet, 0).value();
    EXPECT_TRUE(listener_->bind(at).ok());
    EXPECT_TRUE(listener_->listen(16).ok());
    epoll_ = make_reference<EpollFile>(machine_.heap, machine_.heap, time_, 0u).value();
    say(1, TcpHeader::syn, 1000, 0);  // whose answer asks for the peer's hardware address
    receive(test::arp(ArpPacket::reply, 9, peer, ours, test::hardware(1)));
  }
  ~ConnectionCostTest() {
    descriptors_.close_range(0, ~0u);
    epoll_.reset();
    listener_.reset();
    arch::hosted::thread.header = nullptr;
  }

  void receive(const test::Frame& frame) {
    Reference<Block> block = machine_.its_blocks.create(frame.size()).value();
    std::memcpy(block->bytes().data(), frame.data(), frame.size());
    Received packet{ByteChain(driver_blocks_)};
    EXPECT_TRUE(packet.bytes.add(block, block->bytes()).ok());
    packet.transport_verified = true;
    stack_.drive([&](Stack& it) { it.received(link_, std::span(&packet, 1)); });
  }
  // What the card was given last, from TCP's header on.
  TcpHeader last_sent() {
    const std::vector<test::Frame> frames = link_.take();
    TcpHeader header{};
    if (frames.empty() || frames.back().size() < 54) return header;
    std::memcpy(&header, frames.back().data() + 34, sizeof header);
    return header;
  }
  void say(std::uint16_t port, std::uint8_t flags, std::uint32_t sequence, std::uint32_t acknowledgment) {
    const TcpHeader header{port, served_port, sequence, acknowledgment, 5 << 4, flags, 65'535, 0, 0};
    receive(
        test::ethernet(FrameKind::ipv4, test::ipv4(peer, ours, test::joined(header, {}), {.protocol = Protocol::tcp})));
  }
  // Accepted, with a descriptor, and watched.
  void connect(std::uint16_t port) {
    say(port, TcpHeader::syn, 1000, 0);
    say(port, TcpHeader::ack, 1001, last_sent().sequence + 1);
    const Reference<FileDescription> file = listener_->accept(0).value();
    const std::int32_t number = descriptors_.add(file, OnExecute::closes).value();
    EXPECT_TRUE(epoll_->add(file, number, {poll_event::readable, 0}).ok());
  }
  std::uint64_t pages_taken() {
    machine_.heap.trim();
    return machine_.heap.page_count();
  }

  Processor processor_{0};
  SlabMachine machine_;
  HeapBlocks driver_blocks_{machine_.heap};
  test::TestLink link_{1};
  SharedStack stack_{machine_, nullptr, "test"};
  StillTime time_;
  FileServices services_{&machine_.heap, nullptr, machine_.memory.window(), &time_, nullptr};
  DescriptorTable descriptors_{machine_.heap, 65'536};
  Reference<SocketFile> listener_;
  Reference<EpollFile> epoll_;
};

TEST_F(ConnectionCostTest, AnIdleConnectionTakesAKibibyteInAll) {
  constexpr std::uint16_t first_port = 1024, count = 10'000;
  connect(first_port - 1);  // what is taken once
  const std::uint64_t pages = pages_taken(), blocks = machine_.heap.statistics().live_blocks;
  const std::uint64_t sockets = machine_.sockets.used();
  for (std::uint16_t i = 0; i < count; ++i) connect(first_port + i);
  EXPECT_EQ(stack_.drive([](Stack& it) { return it.tcp().connection_count(); }), count + 1u);
  const std::uint64_t each = (pages_taken() - pages) * page_bytes / count;
  RecordProperty("bytes", static_cast<int>(each));
  EXPECT_LE(each, 1024u);
  EXPECT_GE(machine_.sockets.used() - sockets, count * sizeof(TcpConnection)) << "they are charged";

  // They close, and nothing of them is left but what slots of descriptors and the two tables have grown by.
  for (std::uint16_t i = 0; i < count; ++i) say(first_port + i, TcpHeader::rst, 1001, 0);
  descriptors_.close_range(1, ~0u);
  EXPECT_EQ(stack_.drive([](Stack& it) { return it.tcp().connection_count(); }), 1u);
  constexpr std::uint64_t blocks_of_slots = count / 64, tables = 2;
  EXPECT_EQ(machine_.heap.statistics().live_blocks, blocks + blocks_of_slots + tables);
  EXPECT_LE(machine_.sockets.used(), sockets + 2 * 8 * 16'384);
}

}  // namespace
}  // namespace ingot::os::network::cost
