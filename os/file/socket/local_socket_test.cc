// Sockets of AF_UNIX by name: in the tree and abstract, backlogs, datagrams, hostile addresses, ends in any order.
#include "os/file/socket/local_socket.h"

#include "os/file/socket/socket_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using namespace poll_event;

constexpr SocketKind stream = SocketKind::stream, packets = SocketKind::packets, datagrams = SocketKind::datagrams;
constexpr std::string_view abstract("\0name", 5);

class LocalSocketTest : public Sockets {
 protected:
  Answer<Reference<Node>> node(std::string_view path) {
    return files.tree().find(*files.working_directory(), path, LastLink::kept);
  }
};

TEST_F(LocalSocketTest, ANameInTheTreeLeadsToWhoListens) {
  for (const SocketKind kind : {stream, packets}) {
    Reference<SocketFile> listener = make_listening(kind, "/tmp/door");
    EXPECT_TRUE(listener->listens());
    const FileStatus status = node("/tmp/door").value()->status();
    EXPECT_EQ(status.mode(), 0140755u);
    EXPECT_EQ(status.links, 1u);
    EXPECT_EQ(get("/tmp/door"), "ENXIO");
    EXPECT_EQ(listener->accept(0).error(), Errno::eagain);
    Reference<SocketFile> client = make_connected("/tmp/door", kind);
    EXPECT_EQ(write(*client, "before anybody accepts").value(), 22u);
    Reference<SocketFile> server = listener->accept(open_flag::non_blocking).value();
    EXPECT_TRUE(server->non_blocking());
    EXPECT_EQ(receive(*server).value().text, "before anybody accepts");
    EXPECT_EQ(own_name(*server), std::string("/tmp/door\0", 10));
    EXPECT_EQ(peers_name(*client), std::string("/tmp/door\0", 10));
    EXPECT_EQ(peers_name(*server), "");
    EXPECT_EQ(client->connect(address_of("/tmp/door")).error(), Errno::eisconn);
    EXPECT_TRUE(client->knows_peer());
    EXPECT_TRUE(files.tree().remove(*files.working_directory(), "/tmp/door", Directory::Removes::file).ok());
    EXPECT_EQ(make(kind)->connect(address_of("/tmp/door")).error(), Errno::enoent);
    EXPECT_TRUE(write(*server, "still there").ok());  // a name that went changes nothing
    EXPECT_EQ(receive(*client).value().text, "still there");
  }
}

TEST_F(LocalSocketTest, ANameStaysWhenItsSocketGoes) {
  Reference<SocketFile> listener = make_listening(stream, "/tmp/door");
  EXPECT_EQ(make(stream)->bind(address_of("/tmp/door")).error(), Errno::eaddrinuse);
  EXPECT_EQ(listener->bind(address_of("/tmp/other")).error(), Errno::einval);  // it has one
  EXPECT_EQ(make(packets)->connect(address_of("/tmp/door")).error(), Errno::eprototype);
  listener.reset();
  EXPECT_EQ(make(stream)->connect(address_of("/tmp/door")).error(), Errno::econnrefused);
  EXPECT_EQ(make(packets)->connect(address_of("/tmp/door")).error(), Errno::econnrefused);
  EXPECT_EQ(make(stream)->bind(address_of("/tmp/door")).error(), Errno::eaddrinuse);
  put("/tmp/file", "x");
  EXPECT_EQ(make(stream)->connect(address_of("/tmp/file")).error(), Errno::econnrefused);
  EXPECT_EQ(make(stream)->bind(address_of("/bin/door")).error(), Errno::erofs);
  EXPECT_EQ(make(stream)->bind(address_of("/tmp/none/door")).error(), Errno::enoent);
  EXPECT_EQ(make(stream)->bind(address_of("/tmp/file/door")).error(), Errno::enotdir);
  // Whoever could not take a name may take another.
  Reference<SocketFile> late = make(stream);
  EXPECT_EQ(late->bind(address_of("/tmp/door")).error(), Errno::eaddrinuse);
  EXPECT_TRUE(late->bind(address_of("/tmp/late")).ok());
  EXPECT_TRUE(node("/tmp/late").value()->set_permissions(0600).ok());
  EXPECT_EQ(node("/tmp/late").value()->status().mode(), 0140600u);
}

TEST_F(LocalSocketTest, AbstractNamesGoWithTheirSockets) {
  Reference<SocketFile> listener = make_listening(stream, abstract);
  EXPECT_EQ(make(stream)->bind(address_of(abstract)).error(), Errno::eaddrinuse);
  Reference<SocketFile> of_another_kind = make(datagrams);
  EXPECT_TRUE(of_another_kind->bind(address_of(abstract)).ok());
  const Reference<SocketFile> client = make_connected(abstract);
  const Reference<SocketFile> server = listener->accept(0).value();
  EXPECT_EQ(own_name(*server), abstract);
  EXPECT_EQ(make(packets)->connect(address_of(abstract)).error(), Errno::econnrefused);
  EXPECT_EQ(make(stream)->connect(address_of(abstract.substr(0, 4))).error(), Errno::econnrefused);
  listener.reset();
  EXPECT_EQ(make(stream)->connect(address_of(abstract)).error(), Errno::econnrefused);  // though `server` has it, too
  EXPECT_TRUE(make(stream)->bind(address_of(abstract)).ok());
}

TEST_F(LocalSocketTest, TheKernelGivesNamesOfItsOwn) {
  Reference<SocketFile> one = make(datagrams), other = make(datagrams);
  EXPECT_EQ(own_name(*one), "");
  EXPECT_TRUE(one->bind(address_of("")).ok());
  EXPECT_EQ(own_name(*one), std::string("\00000000", 6));
  EXPECT_TRUE(one->bind(address_of("")).ok());  // it keeps it
  EXPECT_TRUE(make_bound(std::string("\00000001", 6))->bind(address_of("")).ok());
  EXPECT_TRUE(other->bind(address_of("")).ok());
  EXPECT_EQ(own_name(*other).size(), 6u);
  EXPECT_NE(own_name(*other), own_name(*one));
}

TEST_F(LocalSocketTest, AddressesThatAreNoneAreRefused) {
  SocketAddress nothing, half;
  half.size = 1;
  for (const SocketKind kind : {stream, packets, datagrams}) {
    Reference<SocketFile> socket = make(kind);
    for (const SocketAddress& address : {nothing, half}) {
      EXPECT_EQ(socket->bind(address).error(), Errno::einval);
      EXPECT_EQ(socket->connect(address).error(), Errno::einval);
    }
    EXPECT_EQ(socket->bind(address_of("/tmp/x", socket_family::internet)).error(), Errno::einval);
    EXPECT_EQ(socket->connect(address_of("/tmp/x", socket_family::internet)).error(), Errno::einval);
    EXPECT_EQ(socket->connect(address_of("")).error(), Errno::einval);
    EXPECT_EQ(socket->bind(address_of(std::string(109, 'x'))).error(), Errno::einval);
    EXPECT_EQ(socket->bind(address_of(std::string(126, '\0'))).error(), Errno::einval);
    EXPECT_EQ(own_name(*socket), "");
  }
  // The longest path has no room for its zero, and gets one.
  std::string longest = "/tmp/";
  longest += std::string(LocalName::most_bytes - longest.size(), 'l');
  Reference<SocketFile> socket = make(stream);
  EXPECT_TRUE(socket->bind(address_of(longest)).ok());
  EXPECT_EQ(own_name(*socket), longest + '\0');
  EXPECT_TRUE(node(longest).ok());
  // Behind a zero nothing counts.
  Reference<SocketFile> short_name = make(stream);
  EXPECT_TRUE(short_name->bind(address_of(std::string("/tmp/s\0rest", 11))).ok());
  EXPECT_EQ(own_name(*short_name), std::string("/tmp/s\0", 7));
}

TEST_F(LocalSocketTest, CallsThatMakeNoSenseAreRefusedByTheirNumbers) {
  Reference<SocketFile> unnamed = make(stream), datagram = make(datagrams);
  EXPECT_EQ(unnamed->listen(1).error(), Errno::einval);
  EXPECT_EQ(unnamed->accept(0).error(), Errno::einval);
  EXPECT_EQ(unnamed->poll(), writable | hang_up);
  EXPECT_EQ(receive(*unnamed).error(), Errno::einval);
  EXPECT_EQ(write(*unnamed, "x").error(), Errno::enotconn);
  EXPECT_EQ(send_to(*unnamed, "x", "/tmp/x").error(), Errno::eopnotsupp);
  EXPECT_EQ(peers_name(*unnamed), "not connected");
  EXPECT_TRUE(unnamed->shut_down(Direction::both).ok());  // as on Linux
  EXPECT_EQ(datagram->listen(1).error(), Errno::eopnotsupp);
  EXPECT_EQ(datagram->accept(0).error(), Errno::eopnotsupp);
  EXPECT_EQ(write(*datagram, "x").error(), Errno::enotconn);
  EXPECT_EQ(receive(*make(packets)).error(), Errno::enotconn);
  Reference<SocketFile> listener = make_listening(stream, abstract);
  EXPECT_EQ(listener->connect(address_of(abstract)).error(), Errno::einval);
  EXPECT_EQ(receive(*listener).error(), Errno::einval);
  EXPECT_EQ(listener->poll(), 0u);
  const Reference<SocketFile> client = make_connected(abstract);
  EXPECT_EQ(send_to(*client, "x", abstract).error(), Errno::eisconn);
  EXPECT_EQ(client->listen(1).error(), Errno::einval);
}

TEST_F(LocalSocketTest, TheBacklogHoldsOneMoreThanItSays) {
  for (const std::uint32_t backlog : {0u, 2u}) {
    Reference<SocketFile> listener = make_listening(stream, abstract, backlog);
    std::vector<Reference<SocketFile>> clients;
    for (std::uint32_t i = 0; i <= backlog; ++i) clients.push_back(make_connected(abstract));
    Reference<SocketFile> late = make(stream);
    CountingWaiter waiter;
    late->room_source()->join(waiter);
    EXPECT_EQ(late->connect(address_of(abstract)).error(), Errno::eagain);
    EXPECT_EQ(waiter.count, 0);
    const Reference<SocketFile> first = listener->accept(0).value();
    EXPECT_EQ(waiter.count, 1);  // now there is room
    EXPECT_TRUE(late->connect(address_of(abstract)).ok());
    EXPECT_EQ(make(stream)->connect(address_of(abstract)).error(), Errno::eagain);
    EXPECT_TRUE(listener->listen(backlog + 1).ok());
    EXPECT_EQ(waiter.count, 2);
    clients.push_back(make_connected(abstract));
    late->room_source()->leave(waiter);
    EXPECT_TRUE(write(*first, "x").ok());
    EXPECT_EQ(receive(*clients.front()).value().text, "x");  // in the order of their arrival
  }
}

TEST_F(LocalSocketTest, AListenerThatGoesResetsWhoWaits) {
  Reference<SocketFile> listener = make_listening(stream, abstract);
  Reference<SocketFile> client = make_connected(abstract), other = make_connected(abstract);
  EXPECT_TRUE(write(*client, "for nobody").ok());
  CountingWaiter waiter, by_room;
  client->poll_source()->join(waiter);
  client->room_source()->join(by_room);
  listener.reset();
  EXPECT_GE(waiter.count, 1);
  EXPECT_EQ(by_room.count, 1);
  client->poll_source()->leave(waiter);
  client->room_source()->leave(by_room);
  for (const Reference<SocketFile>& socket : {client, other}) {
    EXPECT_EQ(socket->poll(), readable | writable | error | hang_up | peer_closed);
    EXPECT_EQ(receive(*socket).error(), Errno::econnreset);
    EXPECT_EQ(receive(*socket).value().text, "");
    EXPECT_EQ(write(*socket, "x").error(), Errno::epipe);
  }
}

TEST_F(LocalSocketTest, AClientMayGoBeforeItIsAccepted) {
  Reference<SocketFile> listener = make_listening(stream, abstract);
  Reference<SocketFile> client = make_connected(abstract);
  EXPECT_TRUE(write(*client, "farewell").ok());
  client.reset();
  const Reference<SocketFile> server = listener->accept(0).value();
  EXPECT_EQ(peers_name(*server), "");
  EXPECT_EQ(receive(*server).value().text, "farewell");
  EXPECT_EQ(receive(*server).value().text, "");
}

TEST_F(LocalSocketTest, AListenerThatIsShutAcceptsNobody) {
  Reference<SocketFile> listener = make_listening(stream, abstract);
  EXPECT_TRUE(listener->shut_down(Direction::receiving).ok());
  EXPECT_EQ(make(stream)->connect(address_of(abstract)).error(), Errno::econnrefused);
  EXPECT_EQ(listener->accept(0).error(), Errno::einval);
}

TEST_F(LocalSocketTest, DatagramsTellTheirSendersName) {
  Reference<SocketFile> receiver = make_bound("/tmp/receiver"), sender = make_bound(abstract),
                        unnamed = make(datagrams);
  EXPECT_EQ(send_to(*sender, "named", "/tmp/receiver").value(), 5u);
  EXPECT_EQ(send_to(*unnamed, "unnamed", "/tmp/receiver").value(), 7u);
  SocketAddress from;
  EXPECT_EQ(receive(*receiver, 100, Reading::looks, &from).value(), (Got{"named", 5}));
  EXPECT_EQ(name_in(from), abstract);
  sender.reset();  // its name is told all the same
  EXPECT_EQ(receive(*receiver, 100, Reading::takes, &from).value(), (Got{"named", 5}));
  EXPECT_EQ(name_in(from), abstract);
  EXPECT_EQ(receive(*receiver, 100, Reading::takes, &from).value(), (Got{"unnamed", 7}));
  EXPECT_EQ(from.size, 0u);
  EXPECT_EQ(send_to(*unnamed, "x", abstract).error(), Errno::econnrefused);
  EXPECT_EQ(send_to(*unnamed, "x", "/tmp/nobody").error(), Errno::enoent);
  EXPECT_EQ(send_to(*make(datagrams), std::string(300'000, 'x'), "/tmp/receiver").error(), Errno::emsgsize);
}

TEST_F(LocalSocketTest, AConnectedDatagramSocketHearsNobodyElse) {
  Reference<SocketFile> one = make_bound("/tmp/one"), other = make_bound("/tmp/other"), stranger = make(datagrams);
  EXPECT_TRUE(one->connect(address_of("/tmp/other")).ok());
  EXPECT_EQ(peers_name(*one), std::string("/tmp/other\0", 11));
  EXPECT_EQ(send_to(*stranger, "x", "/tmp/one").error(), Errno::eperm);
  EXPECT_EQ(stranger->connect(address_of("/tmp/one")).error(), Errno::eperm);
  EXPECT_EQ(send_to(*other, "back", "/tmp/one").value(), 4u);
  EXPECT_TRUE(write(*one, "there").ok());
  EXPECT_EQ(receive(*other).value().text, "there");
  // Another peer: what waited is lost, and who was connected back is told.
  EXPECT_TRUE(other->connect(address_of("/tmp/one")).ok());
  EXPECT_TRUE(one->connect(address_of("", socket_family::none)).ok());
  EXPECT_EQ(receive(*one).error(), Errno::eagain);
  EXPECT_EQ(other->take_error(), Errno::econnreset);
  EXPECT_EQ(write(*one, "x").error(), Errno::enotconn);
  EXPECT_FALSE(one->knows_peer());
  // To oneself.
  Reference<SocketFile> self = make_bound("/tmp/self");
  EXPECT_TRUE(self->connect(address_of("/tmp/self")).ok());
  EXPECT_TRUE(write(*self, "me").ok());
  EXPECT_EQ(receive(*self).value().text, "me");
}

TEST_F(LocalSocketTest, WhatStrangersSendIsBounded) {
  Reference<SocketFile> receiver = make_bound("/tmp/receiver");
  std::size_t sent = 0;
  // Each sender goes: only the receiver's own bound holds.
  while (send_to(*make(datagrams), "x", "/tmp/receiver").ok()) ++sent;
  EXPECT_EQ(sent, LocalEnd::most_datagrams + 1);
  Reference<SocketFile> connected = make(datagrams), waiting = make(datagrams);
  EXPECT_TRUE(connected->connect(address_of("/tmp/receiver")).ok());
  EXPECT_EQ(write(*connected, "x").error(), Errno::eagain);
  EXPECT_EQ(connected->poll(), 0u);
  CountingWaiter by_source, by_room;
  connected->poll_source()->join(by_source);
  waiting->room_source()->join(by_room);
  EXPECT_EQ(send_to(*waiting, "x", "/tmp/receiver").error(), Errno::eagain);
  EXPECT_TRUE(receive(*receiver).ok());
  EXPECT_EQ(by_source.count, 1);
  EXPECT_EQ(by_room.count, 1);
  EXPECT_EQ(connected->poll(), writable);
  EXPECT_TRUE(receive(*receiver).ok());
  EXPECT_EQ(by_source.count, 1);  // there was room already
  receiver.reset();
  EXPECT_EQ(by_source.count, 2);
  EXPECT_EQ(by_room.count, 2);  // who waits for room is refused now
  connected->poll_source()->leave(by_source);
  waiting->room_source()->leave(by_room);
  EXPECT_EQ(write(*connected, "x").error(), Errno::econnrefused);
}

TEST_F(LocalSocketTest, SocketsThatHoldEachOthersMessagesAllGo) {
  // The fixture counts what is left of the heap.
  Reference<SocketFile> one = make_bound("/tmp/one"), other = make_bound("/tmp/other");
  EXPECT_TRUE(send_to(*one, "there", "/tmp/other").ok());
  EXPECT_TRUE(send_to(*other, "back", "/tmp/one").ok());
  EXPECT_TRUE(send_to(*one, "me", "/tmp/one").ok());
  const Reference<SocketFile> listener = make_listening(packets, abstract);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(write(*make_connected(abstract, packets), "x").ok());
}

TEST_F(LocalSocketTest, WithoutMemoryNothingHalfIsLeft) {
  Reference<SocketFile> listener = make_listening(stream, "/tmp/door");
  const std::uint64_t nodes = files.writable_volume()->nodes_in_use();
  bool is_bound = false;
  for (int left = 0; !is_bound; ++left) {
    Reference<SocketFile> socket = make(stream);
    heap.left = left;
    const Answer<void> bound = socket->bind(address_of("/tmp/new"));
    heap.left = 1000;
    is_bound = bound.ok();
    if (is_bound) break;
    EXPECT_EQ(bound.error(), Errno::enomem);
    EXPECT_EQ(own_name(*socket), "");
    EXPECT_EQ(files.writable_volume()->nodes_in_use(), nodes);
  }
  Reference<SocketFile> client = make(stream);
  heap.left = 0;
  EXPECT_EQ(client->connect(address_of("/tmp/door")).error(), Errno::enomem);
  EXPECT_EQ(listener->poll(), 0u);
  heap.left = 1000;
  EXPECT_TRUE(client->connect(address_of("/tmp/door")).ok());
  heap.left = 0;
  EXPECT_EQ(listener->accept(0).error(), Errno::enomem);
  heap.left = 1000;
  EXPECT_TRUE(write(*client, "it waited").ok());
  EXPECT_EQ(receive(*listener->accept(0).value()).value().text, "it waited");
}

}  // namespace
}  // namespace ingot::os
