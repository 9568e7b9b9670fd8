// Sockets as files, over the loop of a stack of their own: what a program sees of the network.
#include "os/network/socket/socket_files_fixture.h"

namespace ingot::os::network {
namespace {

class SocketFilesTest : public SocketFilesFixture {};

TEST_F(SocketFilesTest, AStreamGoesBothWays) {
  const Pair pair = connected();
  EXPECT_EQ(send(*pair.client, "hello").value(), 5u);
  EXPECT_EQ(receive(*pair.server), "hello");
  EXPECT_EQ(send(*pair.server, "and back").value(), 8u);
  EXPECT_EQ(receive(*pair.client, 3), "and");
  EXPECT_EQ(receive(*pair.client), " back");
  EXPECT_EQ(receive(*pair.client), "error " + std::to_string(static_cast<int>(Errno::eagain)));
  SocketAddress peer;
  ASSERT_TRUE(pair.server->tell_peers_name(peer).ok());
  EXPECT_EQ(read_endpoint(peer, four).value(), own_name(*pair.client));
}

TEST_F(SocketFilesTest, MegabytesMoveInPiecesAndShortCountsMeanThatThereIsNoRoom) {
  const Pair pair = connected();
  std::string sent(3 << 20, '\0'), received;
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7 + (i >> 11));
  for (std::size_t done = 0, turns = 0; received.size() < sent.size(); ++turns) {
    ASSERT_LT(turns, 10'000u);
    if (done < sent.size()) {
      const Answer<std::size_t> moved = send(*pair.client, std::string_view(sent).substr(done));
      if (moved.ok()) done += moved.value();
      if (done < sent.size()) {
        EXPECT_EQ(pair.client->poll() & poll_event::writable, 0u) << "a short count while there was room";
      }
    }
    std::string part = receive(*pair.server, 200'000);
    ASSERT_NE(part.substr(0, 5), "error");
    received += part;
  }
  EXPECT_TRUE(received == sent);
}

TEST_F(SocketFilesTest, TheEndOfAStreamIsReadAsOneAndAResetIsTold) {
  Pair pair = connected();
  ASSERT_TRUE(pair.client->shut_down(SocketFile::Direction::sending).ok());
  EXPECT_EQ(receive(*pair.server), "");
  EXPECT_NE(pair.server->poll() & poll_event::peer_closed, 0u);
  EXPECT_EQ(send(*pair.server, "unread").value(), 6u);
  pair.client.reset();  // bytes are left unread
  EXPECT_EQ(send(*pair.server, "more").error(), Errno::econnreset);
  EXPECT_EQ(send(*pair.server, "more").error(), Errno::epipe) << "it is told once";
}

TEST_F(SocketFilesTest, NobodyListening) {
  const Reference<SocketFile> client = stream();
  EXPECT_EQ(client->connect(name(own_machine, 81)).error(), Errno::econnrefused);
  SocketAddress peer;
  EXPECT_EQ(client->tell_peers_name(peer).error(), Errno::enotconn);
  // It may try again.
  const Reference<SocketFile> listens = listener();
  EXPECT_TRUE(client->connect(name(own_machine, own_name(*listens).port)).ok());
  EXPECT_EQ(client->connect(name(own_machine, own_name(*listens).port)).error(), Errno::eisconn);
}

TEST_F(SocketFilesTest, AListenerOfBothVersionsSeesMappedAddresses) {
  const Reference<SocketFile> listens = listener(IpAddress(), six);
  const std::uint16_t port = own_name(*listens).port;
  const Reference<SocketFile> old = stream(), modern = stream(six);
  ASSERT_TRUE(old->connect(name(own_machine, port)).ok());
  const Reference<SocketFile> first = listens->accept(0).value();
  EXPECT_EQ(own_name(*first).address, own_machine);
  const IpAddress itself(IpAddress::V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  ASSERT_TRUE(modern->connect(name(itself, port, six)).ok());
  EXPECT_EQ(own_name(*listens->accept(0).value()).address, itself);
  EXPECT_EQ(old->connect(name(itself, port, six)).error(), Errno::eafnosupport);
}

TEST_F(SocketFilesTest, EveryArrivalIsAnEdge) {
  const Pair pair = connected();
  EdgeCounter edges;
  pair.server->poll_source()->join(edges);
  for (int round = 1; round <= 3; ++round) {
    EXPECT_TRUE(send(*pair.client, "x").ok());
    EXPECT_EQ(edges.count, round);
  }
  EXPECT_NE(edges.all & poll_event::readable, 0u);
  EXPECT_EQ(receive(*pair.server), "xxx");
  EXPECT_EQ(edges.count, 3) << "what is read is no news";
  pair.server->poll_source()->leave(edges);
}

TEST_F(SocketFilesTest, ANewSocketHangsUpAndAListenerIsReadable) {
  EXPECT_NE(stream()->poll() & poll_event::hang_up, 0u);
  const Reference<SocketFile> listens = listener();
  EXPECT_EQ(listens->poll() & poll_event::readable, 0u);
  EXPECT_EQ(listens->accept(0).error(), Errno::eagain);
  const Reference<SocketFile> client = stream();
  ASSERT_TRUE(client->connect(name(own_machine, own_name(*listens).port)).ok());
  EXPECT_NE(listens->poll() & poll_event::readable, 0u);
  EXPECT_EQ(option<std::int32_t>(*listens, socket_option::level, socket_option::accepts), 1);
  const Endpoint before = own_name(*listens);
  ASSERT_TRUE(listens->shut_down(SocketFile::Direction::receiving).ok());
  EXPECT_EQ(listens->accept(0).error(), Errno::einval);
  EXPECT_EQ(option<std::int32_t>(*listens, socket_option::level, socket_option::accepts), 0);
  EXPECT_EQ(stream()->connect(name(own_machine, before.port)).error(), Errno::econnrefused);
  EXPECT_EQ(own_name(*listens), before) << "the port stays its own";
  EXPECT_EQ(stream()->bind(name(own_machine, before.port)).error(), Errno::eaddrinuse);
  ASSERT_TRUE(listens->listen(4).ok());
  EXPECT_TRUE(stream()->connect(name(own_machine, before.port)).ok());
}

// What it looks at another thread may be freeing: it waits for the lock, here for its own thread.
using SocketFilesDeathTest = SocketFilesTest;
TEST_F(SocketFilesDeathTest, WhetherItListensIsLookedAtUnderTheLock) {
  const Reference<SocketFile> listens = listener();
  const auto ask = [&] { option<std::int32_t>(*listens, socket_option::level, socket_option::accepts); };
  ask();
  EXPECT_DEATH(stack_.drive([&](Stack&) { ask(); }), "");
}

TEST_F(SocketFilesTest, OptionsAreKeptAndBounded) {
  const Reference<SocketFile> socket = stream();
  EXPECT_TRUE(set(*socket, option_level::tcp, 1, 1).ok());
  EXPECT_EQ(option<std::int32_t>(*socket, option_level::tcp, 1), 1);
  EXPECT_EQ(set(*socket, option_level::tcp, 4, 0).error(), Errno::einval);
  EXPECT_EQ(set(*socket, option_level::tcp, 4, 40'000).error(), Errno::einval);
  EXPECT_TRUE(set(*socket, option_level::tcp, 4, 30).ok());
  EXPECT_EQ(option<std::int32_t>(*socket, option_level::tcp, 4), 30);
  EXPECT_EQ(set(*socket, option_level::tcp, 9999, 1).error(), Errno::enoprotoopt);
  EXPECT_EQ((option<std::array<char, 16>>(*socket, option_level::tcp, 13)),
            (std::array<char, 16>{'c', 'u', 'b', 'i', 'c'}));
  EXPECT_EQ(socket->set_option(option_level::tcp, 13, std::as_bytes(std::span("vegas"))).error(), Errno::enoent);
  EXPECT_EQ(socket->set_option(option_level::tcp, 1, {}).error(), Errno::einval);
}

TEST_F(SocketFilesTest, WhatNobodyHasSetIsToldAsLinuxHasIt) {
  const Reference<SocketFile> socket = stream();
  const struct {
    std::uint32_t level, option;
    std::int32_t told;
  } cases[] = {{option_level::tcp, 2, 536}, {option_level::tcp, 4, 7200},  {option_level::tcp, 5, 75},
               {option_level::tcp, 6, 9},   {option_level::tcp, 7, 6},     {option_level::tcp, 8, 60},
               {option_level::tcp, 9, 0},   {option_level::tcp, 23, 0},    {option_level::v4, 2, 64},
               {option_level::v4, 10, 1},   {socket_option::level, 12, 0}, {socket_option::level, 49, -1}};
  for (const auto& it : cases) {
    EXPECT_EQ(option<std::int32_t>(*socket, it.level, it.option), it.told) << it.level << ' ' << it.option;
  }
  EXPECT_TRUE(set(*socket, option_level::v4, 2, 9).ok());
  EXPECT_TRUE(set(*socket, option_level::v4, 2, -1).ok());
  EXPECT_EQ(option<std::int32_t>(*socket, option_level::v4, 2), 64);
  EXPECT_EQ(set(*socket, option_level::v4, 2, 0).error(), Errno::einval);
  EXPECT_TRUE(set(*socket, option_level::tcp, 1, -1).ok()) << "whatever is not 0 is on";
}

TEST_F(SocketFilesTest, TheLargestSegmentIsTheConnectionsOwn) {
  const Pair pair = connected();
  EXPECT_GT(option<std::int32_t>(*pair.client, option_level::tcp, 2), 1400);
  const Reference<SocketFile> socket = stream();
  for (const std::int32_t wanted : {1, 87, -1, 32'768}) {
    EXPECT_EQ(set(*socket, option_level::tcp, 2, wanted).error(), Errno::einval) << wanted;
  }
  EXPECT_TRUE(set(*socket, option_level::tcp, 2, 1000).ok());
  EXPECT_EQ(option<std::int32_t>(*socket, option_level::tcp, 2), 1000);
  const Reference<SocketFile> listens = listener();
  ASSERT_TRUE(socket->connect(name(own_machine, own_name(*listens).port)).ok());
  EXPECT_LE(option<std::int32_t>(*socket, option_level::tcp, 2), 1000);
  EXPECT_TRUE(set(*stream(), option_level::tcp, 2, 0).ok());
}

TEST_F(SocketFilesTest, WhatChangesNothingIsTakenAndTheUnknownIsNot) {
  for (const Reference<SocketFile>& socket : {stream(), datagrams()}) {
    for (const std::uint32_t known : {10, 12, 36, 46, 49}) {
      EXPECT_TRUE(set(*socket, socket_option::level, known, 1).ok()) << known;
    }
    for (const std::uint32_t unknown : {1, 14, 18, 19, 25, 29, 47, 56, 60, 999}) {
      EXPECT_EQ(set(*socket, socket_option::level, unknown, 1000).error(), Errno::enoprotoopt) << unknown;
    }
    EXPECT_TRUE(set(*socket, option_level::v4, 11, 1).ok());
  }
  for (const std::uint32_t known : {9, 23, 30}) {
    EXPECT_TRUE(set(*stream(), option_level::tcp, known, 1).ok()) << known;
    EXPECT_EQ(set(*datagrams(), option_level::tcp, known, 1).error(), Errno::enoprotoopt) << known;
  }
}

TEST_F(SocketFilesTest, BuffersAreToldAsTheyAre) {
  const Pair pair = connected();
  EXPECT_EQ(option<std::int32_t>(*pair.client, option_level::tcp, 2), 65'483);
  EXPECT_EQ(option<std::int32_t>(*pair.client, socket_option::level, socket_option::receive_buffer), 262'144);
  EXPECT_TRUE(set(*pair.client, socket_option::level, socket_option::receive_buffer, 10'000).ok());
  EXPECT_EQ(option<std::int32_t>(*pair.client, socket_option::level, socket_option::receive_buffer), 20'000);
}

TEST_F(SocketFilesTest, DatagramsKeepTheirBordersAndTellTheirSender) {
  const Reference<SocketFile> one = datagrams(), other = datagrams();
  ASSERT_TRUE(one->bind(name(own_machine, 5000)).ok());
  ASSERT_TRUE(other->bind(name(own_machine, 0)).ok());
  const SocketAddress to = name(own_machine, 5000);
  EXPECT_EQ(send(*other, "first", &to).value(), 5u);
  EXPECT_EQ(send(*other, "", &to).value(), 0u);
  EXPECT_EQ(send(*other, "a long one", &to).value(), 10u);
  std::string text(100, '\0');
  KernelTransfer transfer(std::as_bytes(std::span(text)));
  SocketAddress from;
  EXPECT_EQ(one->receive(transfer, {Reading::takes, &from}).value().moved, 5u);
  EXPECT_EQ(read_endpoint(from, four).value(), own_name(*other));
  EXPECT_EQ(receive(*one), "");
  KernelTransfer little(std::as_bytes(std::span(text)).first(4));
  const SocketFile::Received cut = one->receive(little, {}).value();
  EXPECT_EQ(cut.moved, 4u);
  EXPECT_EQ(cut.message_bytes, 10u);
  EXPECT_EQ(receive(*one), "error " + std::to_string(static_cast<int>(Errno::eagain)));
  EXPECT_EQ(send(*one, "to whom").error(), Errno::edestaddrreq);
}

TEST_F(SocketFilesTest, InterfacesAreListed) {
  struct Row {
    char interface[16];
    std::uint16_t family;
    std::uint8_t rest[22];
  } row{};
  struct List {
    std::int32_t bytes, padding;
    Row* rows;
  } list{sizeof row, 0, &row};
  KernelCaller caller;
  const Reference<SocketFile> socket = datagrams();
  ASSERT_TRUE(socket->control(0x8912, reinterpret_cast<std::uintptr_t>(&list), caller).ok());
  EXPECT_EQ(list.bytes, 40);
  EXPECT_STREQ(row.interface, "lo");
  EXPECT_EQ(row.family, four);
  EXPECT_EQ(row.rest[2], 127);
  ASSERT_TRUE(socket->control(0x891b, reinterpret_cast<std::uintptr_t>(&row), caller).ok());
  EXPECT_EQ(row.rest[2], 255);
  EXPECT_EQ(row.rest[3], 0);
  EXPECT_EQ(socket->control(0x8946, reinterpret_cast<std::uintptr_t>(&row), caller).error(), Errno::eopnotsupp);
  row.interface[0] = 'x';
  EXPECT_EQ(socket->control(0x8913, reinterpret_cast<std::uintptr_t>(&row), caller).error(), Errno::enodev);
  EXPECT_EQ(socket->control(0x1234, 0, caller).error(), Errno::enotty);
}

TEST_F(SocketFilesTest, AddressesOfAnyLengthAreReadOrRefused) {
  for (std::uint32_t size = 0; size <= SocketAddress::most_bytes; ++size) {
    SocketAddress address = name(own_machine, 80);
    address.size = size;
    EXPECT_EQ(read_endpoint(address, four).ok(), size >= 16) << size;
    address = name(own_machine, 80, six);
    address.size = size;
    EXPECT_EQ(read_endpoint(address, six).ok(), size >= 24) << size;
  }
}

// Wherever memory ends, nothing is lost or left behind.
TEST_F(SocketFilesTest, WithoutMemory) {
  for (int left = 0; left < 60; ++left) {
    machine_.heap.left = left;
    const auto attempt = [&]() -> Answer<void> {
      Reference<SocketFile> listens = TRY(StreamSocket::create(stack_, services_, four, 0));
      TRY(listens->bind(name(own_machine, 0)));
      TRY(listens->listen(4));
      Reference<SocketFile> client = TRY(StreamSocket::create(stack_, services_, four, 0));
      TRY(client->connect(name(own_machine, own_name(*listens).port)));
      Reference<SocketFile> server = TRY(listens->accept(0));
      TRY(send(*client, "hello"));
      return {};
    };
    static_cast<void>(attempt());
    machine_.heap.left = INT_MAX;
  }
}

}  // namespace
}  // namespace ingot::os::network
