// Pairs of sockets: bytes in order, messages with borders, lengths, ends.
#include "os/file/socket/socket_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using namespace poll_event;

constexpr std::size_t most_message_bytes = SocketSettings::usual_buffer - 32;

class SocketPairs : public Sockets {};

TEST_F(SocketPairs, WhatOneSendsTheOtherReceives) {
  SocketPair pair = make_pair(SocketKind::stream);
  EXPECT_EQ(pair.one->poll(), writable);
  EXPECT_EQ(receive(*pair.one).error(), Errno::eagain);
  EXPECT_EQ(write(*pair.one, "the").value(), 3u);
  EXPECT_EQ(write(*pair.one, "re").value(), 2u);
  EXPECT_EQ(write(*pair.other, "back").value(), 4u);
  EXPECT_EQ(receive(*pair.other, 100, Reading::looks).value().text, "there");
  EXPECT_EQ(receive(*pair.other, 4).value().text, "ther");
  EXPECT_EQ(receive(*pair.other, 4).value().text, "e");
  EXPECT_EQ(receive(*pair.one).value().text, "back");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(pair.one->as_socket()->shut_down(Direction::sending).ok());  // twice is once
  EXPECT_EQ(write(*pair.one, "x").error(), Errno::epipe);
  EXPECT_EQ(pair.other->poll(), readable | writable | peer_closed);  // the end can be read
  EXPECT_EQ(receive(*pair.other).value().text, "");
  EXPECT_EQ(write(*pair.other, "late").value(), 4u);
  EXPECT_EQ(receive(*pair.one).value().text, "late");
  pair.one.reset();
  EXPECT_EQ(pair.other->poll() & hang_up, hang_up);
}

TEST_F(SocketPairs, AStreamTakesWhatFitsAndKeepsTheOrder) {
  SocketPair pair = make_pair(SocketKind::stream);
  std::string text(500'000, '?');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i % 251);
  const std::size_t sent = write(*pair.one, text).value();
  EXPECT_GE(sent, std::size_t{SocketSettings::usual_buffer});
  EXPECT_LT(sent, SocketSettings::usual_buffer + 40'000u);
  EXPECT_EQ(write(*pair.one, "x").error(), Errno::eagain);
  EXPECT_EQ(pair.one->poll(), 0u);
  std::string got;
  while (const Answer<Got> part = receive(*pair.other, 7001)) got += part.value().text;
  EXPECT_EQ(got, text.substr(0, sent));
  EXPECT_EQ(pair.one->poll(), writable);
}

TEST_F(SocketPairs, MessagesKeepTheirBordersAndMayBeEmpty) {
  for (const SocketKind kind : {SocketKind::datagrams, SocketKind::packets}) {
    SocketPair pair = make_pair(kind);
    EXPECT_EQ(pair.other->poll(), writable);
    EXPECT_EQ(receive(*pair.other).error(), Errno::eagain);
    for (const std::string_view text : {"one", "", "three"}) EXPECT_EQ(write(*pair.one, text).value(), text.size());
    EXPECT_EQ(pair.other->poll(), readable | writable);
    EXPECT_EQ(receive(*pair.other, 100, Reading::looks).value(), (Got{"one", 3}));
    EXPECT_EQ(receive(*pair.other).value(), (Got{"one", 3}));
    EXPECT_EQ(receive(*pair.other).value(), (Got{"", 0}));
    EXPECT_EQ(receive(*pair.other, 2).value(), (Got{"th", 5}));  // the rest is lost
    EXPECT_EQ(receive(*pair.other).error(), Errno::eagain);
  }
}

TEST_F(SocketPairs, AMessageThatIsTooLongIsRefusedAndAFullOneWaits) {
  SocketPair pair = make_pair(SocketKind::datagrams);
  EXPECT_EQ(write(*pair.one, std::string(most_message_bytes + 1, 'x')).error(), Errno::emsgsize);
  EXPECT_TRUE(write(*pair.one, std::string(most_message_bytes, 'x')).ok());
  EXPECT_EQ(write(*pair.one, "y").error(), Errno::eagain);
  EXPECT_EQ(pair.one->poll(), 0u);
  EXPECT_TRUE(write(*pair.other, "the other way is free").ok());
  EXPECT_EQ(receive(*pair.other).value().message_bytes, most_message_bytes);
  EXPECT_TRUE(write(*pair.one, "y").ok());
}

TEST_F(SocketPairs, AConnectionOfPacketsEnds) {
  SocketPair pair = make_pair(SocketKind::packets);
  EXPECT_TRUE(write(*pair.one, "last").ok());
  pair.one.reset();
  EXPECT_EQ(pair.other->poll(), readable | writable | hang_up | peer_closed);
  EXPECT_EQ(receive(*pair.other).value(), (Got{"last", 4}));
  EXPECT_EQ(receive(*pair.other).value(), (Got{"", 0}));
  EXPECT_EQ(write(*pair.other, "x").error(), Errno::epipe);
}

TEST_F(SocketPairs, WhatNobodyReadIsTold) {
  for (const SocketKind kind : {SocketKind::stream, SocketKind::datagrams, SocketKind::packets}) {
    SocketPair pair = make_pair(kind);
    EXPECT_TRUE(write(*pair.one, "unread").ok());
    EXPECT_TRUE(write(*pair.other, "back").ok());
    pair.other.reset();
    const bool is_told = kind != SocketKind::datagrams;
    EXPECT_EQ((pair.one->poll() & error) != 0, is_told);
    if (kind == SocketKind::packets) {
      EXPECT_EQ(receive(*pair.one).error(), Errno::econnreset);
    }
    EXPECT_EQ(receive(*pair.one).value().text, "back");
    if (kind == SocketKind::stream) {
      EXPECT_EQ(receive(*pair.one).error(), Errno::econnreset);
    }
    EXPECT_EQ(pair.one->as_socket()->take_error(), Errno{0});  // once
    if (is_told) {
      EXPECT_EQ(receive(*pair.one).value().text, "");
    }
  }
}

TEST_F(SocketPairs, DatagramsLearnBySendingThatNobodyIsThere) {
  SocketPair pair = make_pair(SocketKind::datagrams);
  EXPECT_TRUE(write(*pair.one, "last").ok());
  pair.one.reset();
  EXPECT_EQ(pair.other->poll(), readable | writable);
  EXPECT_EQ(receive(*pair.other).value(), (Got{"last", 4}));
  EXPECT_EQ(receive(*pair.other).error(), Errno::eagain);
  EXPECT_EQ(write(*pair.other, "x").error(), Errno::econnrefused);
  EXPECT_EQ(write(*pair.other, "x").error(), Errno::enotconn);
}

TEST_F(SocketPairs, OneDirectionCanBeShutDown) {
  for (const SocketKind kind : {SocketKind::datagrams, SocketKind::packets}) {
    SocketPair pair = make_pair(kind);
    EXPECT_TRUE(pair.one->as_socket()->shut_down(Direction::sending).ok());
    EXPECT_EQ(write(*pair.one, "x").error(), Errno::epipe);
    EXPECT_EQ(receive(*pair.other).ok(), kind == SocketKind::packets);  // an end; of datagrams nobody knows
    EXPECT_TRUE(write(*pair.other, "back").ok());
    EXPECT_EQ(receive(*pair.one).value().text, "back");
    EXPECT_TRUE(pair.one->as_socket()->shut_down(Direction::receiving).ok());
    EXPECT_EQ(write(*pair.other, "back").error(), Errno::epipe);
    EXPECT_EQ(receive(*pair.one).value(), (Got{"", 0}));
  }
}

TEST_F(SocketPairs, APairThatCannotBeMadeLeavesNothing) {
  for (int left = 0; left < 4; ++left) {
    heap.left = left;
    EXPECT_EQ(files.local_sockets().make_pair(SocketKind::packets, 0, 0).error(), Errno::enomem) << left;
  }
  heap.left = 1000;
  EXPECT_EQ(files.local_sockets().make_pair(SocketKind{4}, 0, 0).error(), Errno::esocktnosupport);
  EXPECT_EQ(files.local_sockets().make_pair(SocketKind::stream, 6, 0).error(), Errno::eprotonosupport);
}

TEST_F(SocketPairs, AMessageWithoutMemoryIsNotSent) {
  SocketPair pair = make_pair(SocketKind::packets);
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
  // What they had claimed is free again.
  for (int i = 0; i < 3; ++i) {
    heap.left = 0;
    EXPECT_EQ(write(*pair.one, std::string(most_message_bytes, 'x')).error(), Errno::enomem);
  }
  heap.left = 1000;
  EXPECT_TRUE(write(*pair.one, std::string(most_message_bytes, 'x')).ok());
}

TEST_F(SocketPairs, AFaultEndsAReadingWithWhatWasMoved) {
  SocketPair pair = make_pair(SocketKind::stream);
  for (const std::string_view text : {"ab", "cdef"}) EXPECT_TRUE(write(*pair.one, text).ok());
  HoledMemory holed;
  const TransferPiece piece{holed.end - 4, 100};
  Transfer transfer(holed, {&piece, 1});
  EXPECT_EQ(pair.other->read(transfer).value(), 4u);
  EXPECT_EQ(receive(*pair.other).value().text, "ef");
}

}  // namespace
}  // namespace ingot::os
