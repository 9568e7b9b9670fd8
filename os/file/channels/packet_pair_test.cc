// Pairs of sockets for messages: borders, lengths, ends.
#include "os/file/channels/packet_queue.h"
#include "os/file/channels/socket_pair.h"
#include "os/file/file_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using namespace poll_event;

class PacketPairs : public Files {
 protected:
  SocketPair make(SocketKind kind) { return make_packet_pair(services, kind, 0).value(); }
  struct Got {
    std::string text;
    std::size_t message_bytes = 0;
    bool operator==(const Got&) const = default;
  };
  static Answer<Got> receive(FileDescription& socket, std::size_t room = 100) {
    std::string text(room, '?');
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    const SocketFile::Received received = TRY(socket.as_socket()->receive(transfer, Reading::takes));
    text.resize(received.moved);
    return Got{text, received.message_bytes};
  }
};

TEST_F(PacketPairs, MessagesKeepTheirBordersAndMayBeEmpty) {
  for (const SocketKind kind : {SocketKind::datagrams, SocketKind::packets}) {
    SocketPair pair = make(kind);
    EXPECT_EQ(pair.other->poll(), writable);
    EXPECT_EQ(receive(*pair.other).error(), Errno::eagain);
    for (const std::string_view text : {"one", "", "three"}) EXPECT_EQ(write(*pair.one, text).value(), text.size());
    EXPECT_EQ(pair.other->poll(), readable | writable);
    EXPECT_EQ(receive(*pair.other).value(), (Got{"one", 3}));
    EXPECT_EQ(receive(*pair.other).value(), (Got{"", 0}));
    EXPECT_EQ(receive(*pair.other, 2).value(), (Got{"th", 5}));  // the rest is lost
    EXPECT_EQ(receive(*pair.other).error(), Errno::eagain);
  }
}

TEST_F(PacketPairs, AMessageThatIsTooLongIsRefusedAndAFullOneWaits) {
  SocketPair pair = make(SocketKind::datagrams);
  EXPECT_EQ(write(*pair.one, std::string(PacketQueue::most_message_bytes + 1, 'x')).error(), Errno::emsgsize);
  EXPECT_TRUE(write(*pair.one, std::string(PacketQueue::most_message_bytes, 'x')).ok());
  EXPECT_EQ(write(*pair.one, "y").error(), Errno::eagain);
  EXPECT_EQ(pair.one->poll(), 0u);
  EXPECT_TRUE(write(*pair.other, "the other way is free").ok());
  EXPECT_EQ(receive(*pair.other).value().message_bytes, PacketQueue::most_message_bytes);
  EXPECT_TRUE(write(*pair.one, "y").ok());
}

TEST_F(PacketPairs, AConnectionOfPacketsEnds) {
  SocketPair pair = make(SocketKind::packets);
  EXPECT_TRUE(write(*pair.one, "last").ok());
  pair.one.reset();
  EXPECT_EQ(pair.other->poll(), readable | writable | hang_up);
  EXPECT_EQ(receive(*pair.other).value(), (Got{"last", 4}));
  EXPECT_EQ(receive(*pair.other).value(), (Got{"", 0}));
  EXPECT_EQ(write(*pair.other, "x").error(), Errno::epipe);
}

TEST_F(PacketPairs, DatagramsLearnBySendingThatNobodyIsThere) {
  SocketPair pair = make(SocketKind::datagrams);
  EXPECT_TRUE(write(*pair.one, "last").ok());
  pair.one.reset();
  EXPECT_EQ(pair.other->poll(), readable | writable);
  EXPECT_EQ(receive(*pair.other).value(), (Got{"last", 4}));
  EXPECT_EQ(receive(*pair.other).error(), Errno::eagain);
  EXPECT_EQ(write(*pair.other, "x").error(), Errno::econnrefused);
  EXPECT_EQ(write(*pair.other, "x").error(), Errno::enotconn);
}

TEST_F(PacketPairs, OneDirectionCanBeShutDown) {
  for (const SocketKind kind : {SocketKind::datagrams, SocketKind::packets}) {
    SocketPair pair = make(kind);
    pair.one->as_socket()->shut_down(SocketFile::Direction::sending);
    EXPECT_EQ(write(*pair.one, "x").error(), Errno::epipe);
    EXPECT_EQ(receive(*pair.other).ok(), kind == SocketKind::packets);  // an end; of datagrams nobody knows
    EXPECT_TRUE(write(*pair.other, "back").ok());
    EXPECT_EQ(receive(*pair.one).value().text, "back");
    pair.one->as_socket()->shut_down(SocketFile::Direction::receiving);
    EXPECT_EQ(write(*pair.other, "back").error(), Errno::epipe);
    EXPECT_EQ(receive(*pair.one).value(), (Got{"", 0}));
  }
}

TEST_F(PacketPairs, APairThatCannotBeMadeLeavesNothing) {
  for (int left = 0; left < 5; ++left) {
    heap.left = left;
    EXPECT_EQ(make_packet_pair(services, SocketKind::packets, 0).error(), Errno::enomem) << left;
  }
}

TEST_F(PacketPairs, AMessageWithoutMemoryIsNotSent) {
  SocketPair pair = make(SocketKind::packets);
  for (int left = 0; left < 2; ++left) {
    heap.left = left;
    EXPECT_EQ(write(*pair.one, "x").error(), Errno::enomem) << left;
  }
  HoledMemory holed;
  const TransferPiece missing{holed.end - 2, 4};
  heap.left = 10;
  Transfer transfer(holed, {&missing, 1});
  EXPECT_EQ(pair.one->write(transfer).error(), Errno::efault);
  EXPECT_EQ(receive(*pair.other).error(), Errno::eagain);
}

}  // namespace
}  // namespace ingot::os
