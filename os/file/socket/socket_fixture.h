// What tests of sockets share: a program's files, and texts sent and received.
#pragma once

#include <cstddef>
#include <string>

#include "os/file/process_files_fixture.h"

namespace ingot::os::file_fixture {

struct Got {
  std::string text;
  std::size_t message_bytes = 0;
  bool operator==(const Got&) const = default;
};

class Sockets : public ProcessTree {
 protected:
  using Direction = SocketFile::Direction;

  // Any bytes behind the family.
  static SocketAddress address_of(std::string_view name, std::uint16_t family = socket_family::local) {
    SocketAddress address;
    address.set(family, std::as_bytes(std::span(name)));
    return address;
  }
  Reference<SocketFile> make(SocketKind kind, std::uint32_t flags = 0) {
    return files.local_sockets().make(kind, 0, flags).value();
  }
  SocketPair make_pair(SocketKind kind) { return files.local_sockets().make_pair(kind, 0, 0).value(); }
  Reference<SocketFile> make_listening(SocketKind kind, std::string_view name, std::uint32_t backlog = 5) {
    Reference<SocketFile> socket = make(kind);
    EXPECT_TRUE(socket->bind(address_of(name)).ok());
    EXPECT_TRUE(socket->listen(backlog).ok());
    return socket;
  }
  Reference<SocketFile> make_bound(std::string_view name) {
    Reference<SocketFile> socket = make(SocketKind::datagrams);
    EXPECT_TRUE(socket->bind(address_of(name)).ok());
    return socket;
  }
  Reference<SocketFile> make_connected(std::string_view name, SocketKind kind = SocketKind::stream) {
    Reference<SocketFile> socket = make(kind);
    EXPECT_TRUE(socket->connect(address_of(name)).ok());
    return socket;
  }

  static Answer<Got> receive(FileDescription& socket, std::size_t room = 100, Reading reading = Reading::takes,
                             SocketAddress* from = nullptr) {
    std::string text(room, '?');
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    const SocketFile::Received received = TRY(socket.as_socket()->receive(transfer, {reading, from}));
    text.resize(received.moved);
    return Got{text, received.message_bytes};
  }
  static Answer<std::size_t> send_to(SocketFile& socket, std::string_view text, std::string_view name) {
    const SocketAddress to = address_of(name);
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    return socket.send(transfer, {&to, false});
  }
  static std::string name_in(const SocketAddress& address) {
    return {reinterpret_cast<const char*>(address.rest().data()), address.rest().size()};
  }
  static std::string own_name(SocketFile& socket) {
    SocketAddress address;
    EXPECT_TRUE(socket.tell_own_name(address).ok());
    EXPECT_EQ(address.family(), socket_family::local);
    return name_in(address);
  }
  // "not connected" where there is none.
  static std::string peers_name(SocketFile& socket) {
    SocketAddress address;
    return socket.tell_peers_name(address).ok() ? name_in(address) : "not connected";
  }
};

}  // namespace ingot::os::file_fixture
