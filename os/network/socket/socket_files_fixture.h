// Sockets over the loop of a stack of their own, for tests of what a program sees of the network.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "os/network/fake_internet.h"
#include "os/network/socket/datagram_socket.h"
#include "os/network/socket/internet_address.h"
#include "os/network/socket/option_values.h"
#include "os/network/socket/sockets_for_tests.h"
#include "os/network/socket/stream_socket.h"

namespace ingot::os::network {

inline constexpr std::uint16_t four = socket_family::internet, six = socket_family::internet_six;
inline constexpr IpAddress own_machine = IpAddress::v4(127, 0, 0, 1);

struct EdgeCounter final : PollWaiter {
  void notified(std::uint32_t events) override {
    ++count;
    all |= events;
  }
  int count = 0;
  std::uint32_t all = 0;
};

class SocketFilesFixture : public ::testing::Test {
 protected:
  Reference<SocketFile> stream(std::uint16_t family = four) {
    return StreamSocket::create(stack_, services_, family, 0).value();
  }
  Reference<SocketFile> datagrams(std::uint16_t family = four) {
    return DatagramSocket::create(stack_, services_, family, 0).value();
  }
  static SocketAddress name(const IpAddress& address, std::uint16_t port, std::uint16_t family = four) {
    SocketAddress spelled;
    write_endpoint({address, port}, family, spelled);
    return spelled;
  }
  static Endpoint own_name(SocketFile& socket) {
    SocketAddress spelled;
    EXPECT_TRUE(socket.tell_own_name(spelled).ok());
    return read_endpoint(spelled, socket.sort().family).value();
  }
  // A listener at any port of the address.
  Reference<SocketFile> listener(const IpAddress& address = own_machine, std::uint16_t family = four) {
    Reference<SocketFile> socket = stream(family);
    EXPECT_TRUE(socket->bind(name(address, 0, family)).ok());
    EXPECT_TRUE(socket->listen(16).ok());
    return socket;
  }
  struct Pair {
    Reference<SocketFile> client, server;
  };
  Pair connected() {
    const Reference<SocketFile> listens = listener();
    Pair pair;
    pair.client = stream();
    EXPECT_TRUE(pair.client->connect(name(own_machine, own_name(*listens).port)).ok());
    pair.server = listens->accept(0).value();
    return pair;
  }
  static Answer<std::size_t> send(SocketFile& socket, std::string_view text, const SocketAddress* to = nullptr) {
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    return socket.send(transfer, {to, false});
  }
  static std::string receive(SocketFile& socket, std::size_t most = 100) {
    std::string text(most, '\0');
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    const Answer<SocketFile::Received> received = socket.receive(transfer, {});
    if (!received.ok()) return "error " + std::to_string(static_cast<int>(received.error()));
    text.resize(received.value().moved);
    return text;
  }
  template <class Value>
  static Value option(SocketFile& socket, std::uint32_t level, std::uint32_t number) {
    Value value{};
    EXPECT_TRUE(socket.get_option(level, number, std::as_writable_bytes(std::span(&value, 1))).ok());
    return value;
  }
  static Answer<void> set(SocketFile& socket, std::uint32_t level, std::uint32_t number, std::int32_t value) {
    return socket.set_option(level, number, std::as_bytes(std::span(&value, 1)));
  }

  OneProcessor processor_;
  FakeMachine machine_;
  SharedStack stack_{machine_, nullptr, "test"};
  StillTime time_;
  FileServices services_{&machine_.heap, nullptr, PhysicalWindow(nullptr, PhysicalAddress(0), 0), &time_, nullptr};
};

}  // namespace ingot::os::network
