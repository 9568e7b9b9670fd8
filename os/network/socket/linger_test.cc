// SO_LINGER: closing waits for what was sent, in every order of what the peer may do meanwhile.
#include <algorithm>

#include "os/network/socket/socket_files_fixture.h"

namespace ingot::os::network {
namespace {

class LingerTest : public SocketFilesFixture {
 protected:
  static void set_linger(SocketFile& socket, std::int32_t seconds) {
    const std::int32_t value[] = {1, seconds};
    ASSERT_TRUE(socket.set_option(socket_option::level, socket_option::linger, std::as_bytes(std::span(value))).ok());
  }
  // Until neither the peer's buffer nor ours has room.
  static void fill(SocketFile& socket) {
    const std::string much(1 << 16, 'x');
    while (send(socket, much).ok()) {
    }
  }
  static void read_all(SocketFile& socket) {
    while (receive(socket, 1 << 20).starts_with('x')) {
    }
  }
  static constexpr Errno none{};
  static Errno end(SocketFile& socket) {
    const Answer<void> ended = socket.let_go();
    return ended.ok() ? none : ended.error();
  }
};

TEST_F(LingerTest, WhatThePeerHasIsNotWaitedFor) {
  const Pair pair = connected();
  set_linger(*pair.client, 5);
  EXPECT_TRUE(send(*pair.client, "x").ok());
  EXPECT_EQ(end(*pair.client), Errno::eagain) << "the FIN has only just gone out";
  EXPECT_EQ(end(*pair.client), none);
  EXPECT_EQ(receive(*pair.server), "x");
  EXPECT_EQ(receive(*pair.server), "");
}

TEST_F(LingerTest, WithoutTimeItResets) {
  Pair pair = connected();
  set_linger(*pair.client, 0);
  fill(*pair.client);
  EXPECT_EQ(end(*pair.client), none);
  pair.client.reset();
  read_all(*pair.server);
  EXPECT_EQ(pair.server->take_error(), none) << "it was read";
  EXPECT_EQ(send(*pair.server, "x").error(), Errno::epipe);
}

TEST_F(LingerTest, WhatIsUnreadResetsAtOnce) {
  const Pair pair = connected();
  set_linger(*pair.client, 5);
  fill(*pair.client);
  EXPECT_TRUE(send(*pair.server, "unread").ok());
  EXPECT_EQ(end(*pair.client), none);
}

TEST_F(LingerTest, OthersThanConnectionsDoNotWait) {
  for (const Reference<SocketFile>& socket : {stream(), listener(), datagrams()}) {
    set_linger(*socket, 5);
    EXPECT_EQ(end(*socket), none);
  }
}

TEST_F(LingerTest, IsInheritedFromTheListener) {
  const Reference<SocketFile> listens = listener(), client = stream();
  set_linger(*listens, 7);
  ASSERT_TRUE(client->connect(name(own_machine, own_name(*listens).port)).ok());
  const Reference<SocketFile> served = listens->accept(0).value();
  EXPECT_EQ((option<std::array<std::int32_t, 2>>(*served, socket_option::level, socket_option::linger)),
            (std::array<std::int32_t, 2>{1, 7}));
}

// Who waits is told whenever there is no more to wait for, and nobody waits for a connection that is gone.
TEST_F(LingerTest, NobodyIsLeftWaitingInAnyOrder) {
  enum Step { looks, peer_reads, peer_shuts_down, peer_closes, peer_resets };
  std::vector<int> order = {looks, peer_reads, peer_shuts_down, peer_closes, peer_resets};
  do {
    Pair pair = connected();
    set_linger(*pair.client, 5);
    fill(*pair.client);
    EdgeCounter edges;
    pair.client->poll_source()->join(edges);
    int heard = edges.count;
    Errno last = end(*pair.client);
    ASSERT_EQ(last, Errno::eagain) << "the peer has read nothing yet";
    for (const int step : order) {
      if (pair.server) {
        if (step == peer_reads) read_all(*pair.server);
        if (step == peer_shuts_down) static_cast<void>(pair.server->shut_down(SocketFile::Direction::sending));
        if (step == peer_resets) set_linger(*pair.server, 0);
        if (step == peer_closes || step == peer_resets) pair.server.reset();
      }
      const bool was_told = std::exchange(heard, edges.count) != edges.count;
      const Errno now = end(*pair.client);
      EXPECT_TRUE(std::exchange(last, now) == now || was_told) << "a sleeper would sleep on behind step " << step;
      EXPECT_TRUE(pair.server || now == none) << "nobody is there any more";
    }
    pair.client->poll_source()->leave(edges);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace ingot::os::network
