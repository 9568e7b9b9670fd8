// What watchers of sockets are told: each arrival once, and nothing else.
#include "os/file/socket/socket_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using namespace poll_event;

class SocketEvents : public Sockets {
 protected:
  static constexpr std::string_view name{"\0name", 5};

  ~SocketEvents() override { epoll.reset(); }

  void watch_edges(const Reference<FileDescription>& socket, std::uint32_t events, std::int32_t number) {
    EXPECT_TRUE(
        watch(*epoll, socket, number, {events | epoll_flag::edge | always, static_cast<std::uint64_t>(number)}).ok());
    static_cast<void>(collect(*epoll));
  }
  Told told() { return collect(*epoll); }
  Reference<EpollFile> epoll = make_epoll();
};

TEST_F(SocketEvents, EveryArrivalIsAnEdgeAndAReadingIsNone) {
  for (const SocketKind kind : {SocketKind::stream, SocketKind::datagrams, SocketKind::packets}) {
    SocketPair pair = make_pair(kind);
    watch_edges(pair.one, readable, 1);
    EXPECT_TRUE(write(*pair.other, "first").ok());
    EXPECT_EQ(told(), (Told{{1, readable}}));
    EXPECT_EQ(told(), Told{});
    EXPECT_TRUE(write(*pair.other, "second").ok());  // though the first was not read
    EXPECT_EQ(told(), (Told{{1, readable}}));
    EXPECT_TRUE(receive(*pair.one, 3).ok());  // a part, or cut: no arrival
    EXPECT_EQ(told(), Told{});
    EXPECT_TRUE(write(*pair.one, "back").ok());
    EXPECT_TRUE(receive(*pair.other).ok());  // room for us: not asked for, while something waits
    EXPECT_EQ(told(), Told{});
  }
}

TEST_F(SocketEvents, RoomIsAnEdgeOnceThereIsEnough) {
  SocketPair pair = make_pair(SocketKind::packets);
  watch_edges(pair.one, readable | writable, 1);
  const std::string quarter(SocketSettings::usual_buffer / 4, 'x');
  int sent = 0;
  while (write(*pair.one, quarter).ok()) ++sent;
  EXPECT_EQ(sent, 4);
  for (int i = 0; i < sent; ++i) {
    EXPECT_TRUE(receive(*pair.other).ok());
    EXPECT_EQ(told(), i == sent - 1 ? (Told{{1, writable}}) : Told{});
  }
}

TEST_F(SocketEvents, ConnectionsArriveOneByOne) {
  Reference<SocketFile> listener = make_listening(SocketKind::stream, name);
  watch_edges(listener, readable, 1);
  std::vector<Reference<SocketFile>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(make_connected(name));
    EXPECT_EQ(told(), (Told{{1, readable}}));
    EXPECT_EQ(told(), Told{});
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(listener->accept(0).ok());
  EXPECT_EQ(told(), Told{});
  EXPECT_EQ(listener->accept(0).error(), Errno::eagain);
}

TEST_F(SocketEvents, AnEndIsToldToWhoAskedForItAndToWhoDidNot) {
  SocketPair pair = make_pair(SocketKind::stream);
  watch_edges(pair.one, readable | peer_closed, 1);
  EXPECT_TRUE(pair.other->as_socket()->shut_down(Direction::sending).ok());
  EXPECT_EQ(told(), (Told{{1, readable | peer_closed}}));
  pair.other.reset();
  EXPECT_EQ(told(), (Told{{1, readable | peer_closed | hang_up}}));
  SocketPair second = make_pair(SocketKind::stream);
  watch_edges(second.one, writable, 2);
  EXPECT_TRUE(write(*second.one, "unread").ok());
  second.other.reset();
  EXPECT_EQ(told(), (Told{{2, writable | hang_up | error}}));
}

TEST_F(SocketEvents, ALevelStaysUntilItIsRead) {
  SocketPair pair = make_pair(SocketKind::stream);
  EXPECT_TRUE(watch(*epoll, pair.one, 1, {readable | always, 7}).ok());
  EXPECT_EQ(told(), Told{});
  EXPECT_TRUE(write(*pair.other, "ab").ok());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(told(), (Told{{7, readable}}));
  EXPECT_TRUE(receive(*pair.one, 1).ok());
  EXPECT_EQ(told(), (Told{{7, readable}}));
  EXPECT_TRUE(receive(*pair.one, 1).ok());
  EXPECT_EQ(told(), Told{});
}

TEST_F(SocketEvents, WhoChangesWhatItWatchesForIsToldWhatHolds) {
  SocketPair pair = make_pair(SocketKind::stream);
  watch_edges(pair.one, writable, 1);
  EXPECT_TRUE(write(*pair.other, "x").ok());
  EXPECT_EQ(told(), Told{});
  EXPECT_TRUE(epoll->change(*pair.one, 1, {readable | epoll_flag::edge | always, 1}).ok());
  EXPECT_EQ(told(), (Told{{1, readable}}));
  EXPECT_EQ(told(), Told{});
}

}  // namespace
}  // namespace ingot::os
