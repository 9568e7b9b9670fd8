// Connecting, accepting and closing in every order: nobody sleeps for good, and nothing is left.
#include <gtest/gtest.h>

#include "os/file/socket/insist_for_tests.h"
#include "os/file/socket/local_socket.h"
#include "os/schedule/interleavings/scenario_for_tests.h"
#include "os/schedule/test_heap.h"

namespace ingot::os::interleavings {
namespace {

struct NoPlaces final : SocketPlaces {
  Answer<void> add_socket(std::string_view, LocalEnd&) override { return Errno::erofs; }
  Answer<Reference<LocalEnd>> find_socket(std::string_view) override { return Errno::enoent; }
};
struct NoTime final : TimeSource {
  Nanoseconds monotonic() override { return Nanoseconds(0); }
  Nanoseconds realtime() override { return Nanoseconds(0); }
};

struct Ground {
  Ground() {
    heap.left = 1000;
    constexpr std::byte letters[2] = {std::byte{0}, std::byte{'n'}};
    name.set(socket_family::local, letters);
  }
  Reference<SocketFile> make() { return sockets.make(SocketKind::stream, 0, 0).value(); }
  void listen(std::uint32_t backlog) {
    listener = make();
    if (!listener->bind(name).ok() || !listener->listen(backlog).ok()) __builtin_trap();
  }
  static Answer<std::size_t> send(SocketFile& socket) {
    std::byte letter{'x'};
    KernelTransfer from(std::span<const std::byte>(&letter, 1));
    return socket.send(from, {});
  }
  // How many bytes came: none at the end.
  static Answer<std::size_t> receive(SocketFile& socket) {
    return insist(socket, [&]() -> Answer<std::size_t> {
      std::byte letter{};
      KernelTransfer to(std::span<const std::byte>(&letter, 1));
      return TRY(socket.receive(to, {})).moved;
    });
  }
  void expect_nothing_left(Simulation& simulation) {
    listener.reset();
    simulation.expect(heap.expect_no_leak().ok(), "memory was left");
  }

  TestHeap heap;
  NoPlaces places;
  NoTime time;
  LocalSockets sockets{places, heap, time};
  SocketAddress name;
  Reference<SocketFile> listener;
};

// Two clients, and room for one at a time: who finds none sleeps until there is.
struct BacklogScenario : Ground {
  void begin(Simulation& simulation) {
    listen(0);
    for (const char* const client : {"client", "other client"}) {
      simulation.start_thread(client, [&] {
        const Reference<SocketFile> socket = make();
        simulation.expect(insist(*socket, [&] { return socket->connect(name); }).ok(), "a connection was refused");
        simulation.expect(send(*socket).ok(), "nothing could be sent");
      });
    }
    simulation.start_thread("server", [&] {
      for (int i = 0; i < 2; ++i) {
        const Answer<Reference<SocketFile>> client = insist(*listener, [&] { return listener->accept(0); });
        simulation.expect(client.ok() && receive(*client.value()).value() == 1, "a byte was lost");
        ++served;
      }
    });
  }
  void end(Simulation& simulation) {
    simulation.expect(served == 2, "a client was lost");
    expect_nothing_left(simulation);
  }
  int served = 0;
};

TEST(SocketOrders, WhoFindsNoRoomIsWokenWhenThereIs) {
  expect_holds_in_every_order<BacklogScenario>({.cpus = 2, .preemptions = 2});
}

// The listener goes at any time: the client is refused, or connected and reset, or told of the end; it never waits.
struct CloseScenario : Ground {
  void begin(Simulation& simulation) {
    listen(0);
    simulation.start_thread("client", [&] {
      const Reference<SocketFile> socket = make();
      const Answer<void> connected = insist(*socket, [&] { return socket->connect(name); });
      if (!connected.ok()) return simulation.expect(connected.error() == Errno::econnrefused, "another refusal");
      const Answer<std::size_t> received = receive(*socket);
      simulation.expect(!received.ok() && received.error() == Errno::econnreset, "no reset was told");
    });
    simulation.start_thread("server", [&] { listener.reset(); });
  }
  void end(Simulation& simulation) { expect_nothing_left(simulation); }
};

TEST(SocketOrders, AListenerThatGoesLeavesNobodyWaiting) {
  expect_holds_in_every_order<CloseScenario>({.cpus = 2, .preemptions = 2});
}

// Both ends go while each has sent something that nobody reads.
struct FarewellScenario : Ground {
  void begin(Simulation& simulation) {
    SocketPair pair = sockets.make_pair(SocketKind::stream, 0, 0).value();
    ends[0] = std::move(pair.one);
    ends[1] = std::move(pair.other);
    for (unsigned i = 0; i < 2; ++i) {
      simulation.start_thread("end", [&, i] {
        const Answer<std::size_t> sent = send(*ends[i]->as_socket());
        simulation.expect(sent.ok() || sent.error() == Errno::epipe, "another refusal");
        ends[i].reset();
      });
    }
  }
  void end(Simulation& simulation) { expect_nothing_left(simulation); }
  Reference<FileDescription> ends[2];
};

TEST(SocketOrders, TwoEndsMayGoAtOnce) { expect_holds_in_every_order<FarewellScenario>({.cpus = 2, .preemptions = 2}); }

}  // namespace
}  // namespace ingot::os::interleavings
