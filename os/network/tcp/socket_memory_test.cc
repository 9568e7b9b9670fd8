// What sockets hold is counted, bounded in all, and comes back; where it ends, connections go on slowly and none
// begins.
#include "os/network/socket_memory.h"

#include "os/network/tcp/tcp_table_fixture.h"

namespace ingot::os::network {
namespace {

class SocketMemoryTest : public TcpTableFixture {
 protected:
  struct Ends {
    Reference<TcpConnection> client, server;
  };
  // Both ends have one memory, so they are one machine's.
  SocketMemoryTest() {
    server_.internet.ours.push_back(client_address);
    client_.internet.ours.push_back(server_address);
  }
  Ends connected(TcpListener& listener) {
    Ends ends;
    ends.client = connect().value();
    exchange();
    ends.server = listener.accept().value();
    return ends;
  }
  void close(Ends& ends) {
    for (Reference<TcpConnection>* const end : {&ends.client, &ends.server}) {
      if (*end) (*end)->close(machine_.time);
      end->reset();
    }
    exchange();
  }
  std::uint64_t used() const { return machine_.memory.used(); }
  // So many bytes more than there are now.
  void allow(std::uint64_t bytes) { machine_.memory.most = used() + bytes; }

  // A stream from one end to the other while memory is bounded; the most that was used meanwhile, beyond the start's.
  std::uint64_t carry(Ends& ends, const std::string& text) {
    const std::uint64_t before = used();
    std::uint64_t peak = before;
    std::string received;
    std::size_t sent = 0;
    for (int turn = 0; turn < 20'000 && received.size() < text.size(); ++turn) {
      const int moved = sent < text.size() ? send(*ends.client, text.substr(sent, 50'000)) : 0;
      EXPECT_TRUE(moved >= 0 || moved == -static_cast<int>(Errno::eagain)) << moved;
      if (moved > 0) sent += static_cast<std::size_t>(moved);
      peak = std::max(peak, used());
      exchange();
      peak = std::max(peak, used());
      if (turn % 3 != 0) {
        advance(milliseconds(50));
        continue;  // a slow reader
      }
      for (std::string part = receive(*ends.server); part != "EAGAIN"; part = receive(*ends.server)) received += part;
      exchange();
    }
    EXPECT_TRUE(received == text) << received.size() << " of " << text.size();
    return peak - before;
  }
  static std::string letters(std::size_t count) {
    std::string text(count, '\0');
    for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>('a' + (i * 7 + (i >> 9)) % 26);
    return text;
  }
};

TEST_F(SocketMemoryTest, WhatIsQueuedIsCountedUntilItIsReadAndConnectionsUntilTheyEnd) {
  const Owned<TcpListener> listener = listen(5);
  Ends first = connected(*listener);
  close(first);
  advance(seconds(120));
  const std::uint64_t none = used();
  Ends ends = connected(*listener);
  const std::uint64_t idle = used();
  EXPECT_GE(idle - none, 2 * sizeof(TcpConnection));
  EXPECT_EQ(send(*ends.client, letters(900)), 900);
  EXPECT_GE(used() - idle, 900u) << "to be sent again, if it must be";
  exchange();
  EXPECT_GE(used() - idle, 900u) << "to be read";
  EXPECT_EQ(receive(*ends.server).size(), 900u);
  exchange();
  advance(milliseconds(100));
  exchange();
  EXPECT_EQ(used(), idle);
  EXPECT_EQ(send(*ends.server, "unread"), 6);
  exchange();
  close(ends);
  advance(seconds(120));
  exchange();
  EXPECT_EQ(used(), none);
}

TEST_F(SocketMemoryTest, AStreamGoesOnThroughLittleMemory) {
  const Owned<TcpListener> listener = listen(5);
  Ends ends = connected(*listener);
  const std::string text = letters(400'000);
  const std::uint64_t unbounded = carry(ends, text);
  constexpr std::uint64_t room = 48 << 10, slack = 48 << 10;  // of a chunk that is written, and what it is sent in
  ASSERT_GT(unbounded, room + slack) << "or the bound proves nothing";
  allow(room);
  EXPECT_LE(carry(ends, text), room + slack);
  constexpr std::uint64_t others = 256 << 10;
  machine_.memory.hold(others);
  allow(0);
  EXPECT_LE(carry(ends, letters(20'000)), 8u << 10) << "full from the start: a segment at a time";
  machine_.memory.let_go(others);
  machine_.memory.most = ~std::uint64_t{0} / 2;
  close(ends);
}

// A peer that the test plays, and the window that it was told last.
class BoundedPeerTest : public SocketMemoryTest {
 protected:
  BoundedPeerTest() {
    server_.internet.ours.pop_back();
    ours_ = shake_hands({client_address, 5000}, 100);
    connection_ = listener_->accept().value();
  }
  ~BoundedPeerTest() { connection_->abort(Errno{}, machine_.time); }

  std::uint32_t arrive_with(std::uint32_t sequence, std::uint32_t bytes) {
    Segment segment = make_segment(TcpHeader::ack, sequence, ours_.value());
    segment.payload_bytes = bytes;
    connection_->segment_arrived(segment, make_received(machine_.blocks(), std::vector<std::byte>(bytes)),
                                 machine_.time);
    server_.tcp.send_pending(machine_.time);
    return last_window();
  }
  // As a card joins them: a page for each, which counts for nobody before it is kept.
  void arrive_joined(std::uint32_t sequence, std::uint32_t segments) {
    constexpr std::uint16_t segment_bytes = 1448;
    Received packet{ByteChain(card_)};
    for (std::uint32_t i = 0; i < segments; ++i) {
      Reference<Block> page = card_.create(4096).value();
      const std::span<std::byte> part = page->bytes().first(segment_bytes);
      ASSERT_TRUE(packet.bytes.add(std::move(page), part).ok());
    }
    packet.segment_bytes = segment_bytes;
    Segment segment = make_segment(TcpHeader::ack, sequence, ours_.value());
    segment.payload_bytes = segments * segment_bytes;
    connection_->segment_arrived(segment, std::move(packet), machine_.time);
    server_.tcp.send_pending(machine_.time);
  }
  std::uint32_t read_all() {
    while (receive(*connection_) != "EAGAIN") {
    }
    server_.tcp.send_pending(machine_.time);
    return last_window();
  }
  std::uint32_t last_window() {
    while (const std::optional<Segment> told = answer()) window_ = told->window;
    return window_;
  }

  HeapBlocks card_{machine_.heap};
  const Owned<TcpListener> listener_ = listen(5);
  SequenceNumber ours_;
  Reference<TcpConnection> connection_;
  std::uint32_t window_ = 0;
};

TEST_F(BoundedPeerTest, WhereMemoryIsScarceWindowsShrink) {
  EXPECT_GE(arrive_with(101, 20'000) + 20'000, 65'535u);
  EXPECT_EQ(read_all(), 65'535u);
  machine_.memory.most = 1 << 20;
  machine_.memory.hold(900 << 10);
  EXPECT_LE(arrive_with(20'101, 20'000), 45'535u);
  EXPECT_LE(read_all(), 45'535u) << "what was promised stands, and no more";
  arrive_with(40'101, 40'000);
  EXPECT_LE(read_all(), 4 * 1460u);
  EXPECT_GE(window_, 2 * 1460u) << "and never closes for an empty queue";
  machine_.memory.let_go(900 << 10);
  EXPECT_EQ(arrive_with(80'101, 100), 65'535u);
}

TEST_F(BoundedPeerTest, WhatComesEarlyGoesFirst) {
  constexpr std::uint64_t others = 1 << 20;
  machine_.memory.hold(others);
  arrive_with(501, 100);
  ASSERT_EQ(server_.tcp.counters.out_of_order, 1u);
  const std::uint64_t with_early = used();
  machine_.memory.most = used() * 5 / 4;
  ASSERT_TRUE(machine_.memory.is_scarce() && !machine_.memory.is_full());
  arrive_with(1501, 100);
  EXPECT_EQ(used(), with_early) << "one more is not kept";
  EXPECT_EQ(server_.tcp.counters.no_memory, 1u);
  machine_.memory.most = used();
  arrive_with(2501, 100);
  EXPECT_LT(used(), with_early) << "full: what was kept goes, too";
  machine_.memory.most = used();
  arrive_with(101, 100);
  EXPECT_EQ(connection_->unread_bytes(), 100u) << "an empty queue takes what is next";
  arrive_with(201, 100);
  EXPECT_EQ(connection_->unread_bytes(), 100u) << "one that is not waits for its reader";
  read_all();
  arrive_with(201, 100);
  EXPECT_EQ(connection_->unread_bytes(), 100u);
  machine_.memory.let_go(others);
}

TEST_F(BoundedPeerTest, WhereMemoryIsFullOneSegmentOfAJoinedPacketIsTaken) {
  constexpr std::uint64_t others = 1 << 20;
  machine_.memory.hold(others);
  allow(0);
  const std::uint64_t before = used();
  arrive_joined(101, 40);
  EXPECT_EQ(connection_->unread_bytes(), 1448u);
  EXPECT_LE(used() - before, 2u * 4096);
  arrive_joined(101 + 1448, 40);
  EXPECT_EQ(connection_->unread_bytes(), 1448u) << "it waits for its reader";
  read_all();
  arrive_joined(101, 40);
  EXPECT_EQ(connection_->unread_bytes(), 1448u) << "what was there before is no part of it";
  machine_.memory.let_go(others);
  read_all();
  arrive_joined(101 + 2 * 1448, 40);
  EXPECT_EQ(connection_->unread_bytes(), 40u * 1448);
}

TEST_F(BoundedPeerTest, BeyondTheBoundNothingIsTaken) {
  constexpr std::uint64_t others = 1 << 20;
  machine_.memory.hold(others + others / 8);
  machine_.memory.most = others;
  arrive_joined(101, 1);
  EXPECT_EQ(connection_->unread_bytes(), 0u) << "though its queue is empty";
  EXPECT_EQ(server_.tcp.counters.no_memory, 1u);
  machine_.memory.let_go(others / 8);
  arrive_joined(101, 1);
  EXPECT_EQ(connection_->unread_bytes(), 1448u);
  machine_.memory.let_go(others);
}

// What is sent needs no more memory for being left behind.
TEST_F(BoundedPeerTest, WhereMemoryIsFullOnlyWhatIsUnsentIsReset) {
  shake_hands({client_address, 5001}, 100);
  const Reference<TcpConnection> other = listener_->accept().value();
  ASSERT_GT(send(*other, letters(30'000)), 0);
  ASSERT_GT(other->unsent_bytes(), 0u);
  server_.internet.sent.clear();
  allow(0);
  other->close(machine_.time);
  EXPECT_TRUE(answer().value().has(TcpHeader::rst));
  server_.internet.sent.clear();
  machine_.memory.most = used();
  connection_->close(machine_.time);
  EXPECT_EQ(answer().value().flags, TcpHeader::fin | TcpHeader::ack);
  EXPECT_EQ(server_.tcp.counters.orphans_dropped, 1u);
}

TEST_F(SocketMemoryTest, WhereItIsFullNoConnectionBeginsAndSynsCostNothing) {
  const Owned<TcpListener> listener = listen(64);
  constexpr std::uint64_t others = 1 << 20;
  machine_.memory.hold(others);
  allow(0);
  const std::uint64_t before = used();
  for (std::uint16_t port = 1; port <= 100; ++port) arrive({client_address, port}, make_syn(7));
  EXPECT_EQ(server_.tcp.handshake_count(), 0u);
  EXPECT_EQ(used(), before);
  EXPECT_EQ(server_.tcp.table_counters().cookies_sent, 100u);
  server_.internet.sent.clear();
  arrive({client_address, 5000}, make_syn(7));
  const std::optional<Segment> cookie = answer();
  ASSERT_TRUE(cookie.has_value());
  arrive({client_address, 5000}, make_segment(TcpHeader::ack, 8, cookie->sequence.value() + 1));
  EXPECT_EQ(server_.tcp.connection_count(), 0u);
  EXPECT_FALSE(connect().ok());
  machine_.memory.let_go(others);
  arrive({client_address, 5000}, make_segment(TcpHeader::ack, 8, cookie->sequence.value() + 1));
  EXPECT_EQ(server_.tcp.connection_count(), 1u) << "when there is room again";
}

TEST_F(SocketMemoryTest, WhatTheProgramHasLeftIsABoundAsWell) {
  ProgramAccount account(1 << 20);
  machine_.memory.charge_to(&account);
  const Owned<TcpListener> listener = listen(5);
  Ends ends = connected(*listener);
  EXPECT_EQ(machine_.memory.most, (1u << 20) / SocketMemory::share) << "of what it may have, not of the machine";
  EXPECT_EQ(account.charged(), used());
  EXPECT_EQ(account.sockets()->now(), used());
  RegionFields region;
  region.promised = true;
  region.bytes = (1 << 20) - used() + 1;
  EXPECT_FALSE(account.allow(region).ok()) << "sockets count with the rest";
  EXPECT_FALSE(machine_.memory.is_scarce());
  region.bytes = (1 << 20) - used() - 100;
  EXPECT_TRUE(account.allow(region).ok());
  account.add(region);
  EXPECT_FALSE(machine_.memory.is_scarce()) << "a sixteenth of the bound is there in any case";
  machine_.memory.most = 8 * used();
  EXPECT_EQ(send(*ends.client, letters(5000)), 1448) << "into an empty queue";
  EXPECT_FALSE(connect().ok());
  account.remove(region);
  EXPECT_EQ(send(*ends.client, letters(3552)), 3552);
  machine_.memory.charge_to(nullptr);
  close(ends);
}

// Wherever memory ends, what was taken comes back.
TEST_F(SocketMemoryTest, NothingIsLeftBehindWhereverAllocationsFail) {
  const Owned<TcpListener> listener = listen(5);
  Ends first = connected(*listener);
  close(first);
  advance(seconds(120));
  exchange();
  const std::uint64_t none = used();
  for (int left = 0; left < 80; ++left) {
    machine_.heap.left = left;
    Ends ends;
    if (Answer<Reference<TcpConnection>> made = connect(); made.ok()) ends.client = std::move(made).value();
    exchange();
    if (Answer<Reference<TcpConnection>> got = listener->accept(); got.ok()) ends.server = std::move(got).value();
    for (int turn = 0; turn < 4 && ends.client && ends.server; ++turn) {
      send(*ends.client, letters(6000));
      if (turn == 1 && !client_.internet.sent.empty()) client_.internet.sent.pop_front();  // lost: the rest comes early
      exchange();
      receive(*ends.server);
    }
    machine_.heap.left = INT_MAX;
    if (ends.client) ends.client->abort(Errno{}, machine_.time);
    close(ends);
    advance(seconds(200));
    exchange();
    for (auto late = listener->accept(); late.ok(); late = listener->accept()) {
      late.value()->abort(Errno{}, machine_.time);
    }
    ASSERT_EQ(server_.tcp.connection_count() + client_.tcp.connection_count(), 0u) << left;
    ASSERT_EQ(used(), none) << left;
  }
}

}  // namespace
}  // namespace ingot::os::network
