// Sockets of the Internet, an epoll and the timers' alarm, in every order of the steps of two CPUs: nobody sleeps for
// good, nothing is lost, nothing is left.
#include <gtest/gtest.h>

#include "os/file/channels/epoll.h"
#include "os/file/socket/insist_for_tests.h"
#include "os/network/fake_internet.h"
#include "os/network/socket/alarm.h"
#include "os/network/socket/internet_address.h"
#include "os/network/socket/sockets_for_tests.h"
#include "os/network/socket/stream_socket.h"
#include "os/schedule/interleavings/scenario_for_tests.h"
#include "os/schedule/sleep.h"

namespace ingot::os::interleavings {
namespace {

using network::IpAddress;
using network::StreamSocket;

constexpr IpAddress own_machine = IpAddress::v4(127, 0, 0, 1);
constexpr std::uint16_t port = 80;

// A listener and, where a scenario wants one, a connection over the loop.
struct Ground {
  Ground() : Ground(nullptr) {}
  explicit Ground(network::Machine* other)
      : stack(other != nullptr ? *other : static_cast<network::Machine&>(machine), nullptr, "orders") {}
  Reference<SocketFile> make() { return StreamSocket::create(stack, services, socket_family::internet, 0).value(); }
  SocketAddress name() {
    SocketAddress spelled;
    network::write_endpoint({own_machine, port}, socket_family::internet, spelled);
    return spelled;
  }
  void listen() {
    listener = make();
    if (!listener->bind(name()).ok() || !listener->listen(4).ok()) __builtin_trap();
  }
  void connect() {
    listen();
    client = make();
    if (!client->connect(name()).ok()) __builtin_trap();
    server = listener->accept(0).value();
  }
  static Answer<std::size_t> send(SocketFile& socket) {
    std::byte letter{'x'};
    KernelTransfer from(std::span<const std::byte>(&letter, 1));
    return socket.send(from, {});
  }
  static Answer<std::size_t> try_to_receive(SocketFile& socket) {
    std::byte letter{};
    KernelTransfer to(std::span<const std::byte>(&letter, 1));
    return TRY(socket.receive(to, {})).moved;
  }
  // How many bytes came: none at the end.
  static Answer<std::size_t> receive(SocketFile& socket) {
    return insist(socket, [&] { return try_to_receive(socket); });
  }
  static void reset(Reference<SocketFile>& socket) {
    struct {
      std::int32_t is_on = 1, seconds = 0;
    } now;
    if (!socket->set_option(socket_option::level, socket_option::linger, std::as_bytes(std::span(&now, 1))).ok()) {
      __builtin_trap();
    }
    socket.reset();
  }
  void end(Simulation& simulation) {
    const network::OneProcessor processor;
    close_all(simulation);
  }
  void close_all(Simulation& simulation) {
    client.reset();
    server.reset();
    listener.reset();
    const std::size_t left = stack.drive([](network::Stack& it) { return it.tcp().connection_count(); });
    simulation.expect(left == 0, "a connection was left");
  }

  network::FakeMachine machine;
  network::SharedStack stack;
  network::StillTime time;
  FileServices services{&machine.heap, nullptr, PhysicalWindow(nullptr, PhysicalAddress(0), 0), &time, nullptr};
  Reference<SocketFile> listener, client, server;
};

struct CloseBesideReceive : Ground {
  void begin(Simulation& simulation) {
    connect();
    simulation.start_thread("reader", [&] {
      simulation.expect(receive(*server).value() == 1, "a byte was lost");
      simulation.expect(receive(*server).value() == 0, "the end was not told");
    });
    simulation.start_thread("writer", [&] {
      simulation.expect(send(*client).ok(), "nothing could be sent");
      client.reset();
    });
  }
};

TEST(InternetOrders, WhoReadsIsToldOfTheLastByteAndTheEnd) {
  expect_holds_in_every_order<CloseBesideReceive>({.cpus = 2, .preemptions = 2});
}

// Whether the reset comes before or after accept, there is a connection to accept, and it says what happened.
struct ResetBesideAccept : Ground {
  void begin(Simulation& simulation) {
    listen();
    simulation.start_thread("client", [&] {
      Reference<SocketFile> socket = make();
      simulation.expect(socket->connect(name()).ok(), "a connection was refused");
      reset(socket);
    });
    simulation.start_thread("server", [&] {
      const Answer<Reference<SocketFile>> accepted = insist(*listener, [&] { return listener->accept(0); });
      simulation.expect(accepted.ok(), "nothing was accepted");
      const Answer<std::size_t> received = receive(*accepted.value());
      simulation.expect(!received.ok() && received.error() == Errno::econnreset, "no reset was told");
    });
  }
};

TEST(InternetOrders, WhoAcceptsIsToldOfAReset) {
  expect_holds_in_every_order<ResetBesideAccept>({.cpus = 2, .preemptions = 2});
}

// The listener goes while somebody connects: refused, or connected and reset.
struct CloseBesideConnect : Ground {
  void begin(Simulation& simulation) {
    listen();
    simulation.start_thread("client", [&] {
      const Reference<SocketFile> socket = make();
      const Answer<void> connected = socket->connect(name());
      if (!connected.ok()) {
        const bool is_known = connected.error() == Errno::econnrefused || connected.error() == Errno::econnreset;
        return simulation.expect(is_known, "another refusal");
      }
      const Answer<std::size_t> received = receive(*socket);
      simulation.expect(!received.ok() && received.error() == Errno::econnreset, "no reset was told");
    });
    simulation.start_thread("server", [&] { listener.reset(); });
  }
};

TEST(InternetOrders, AListenerThatGoesLeavesNobodyWaiting) {
  expect_holds_in_every_order<CloseBesideConnect>({.cpus = 2, .preemptions = 2});
}

// Edge by edge, reading until there is no more: every byte is found, and the end.
struct EdgeBesideArrival : Ground, EpollSink {
  Answer<void> add(std::uint32_t, std::uint64_t) override { return {}; }
  Answer<std::size_t> wait() {
    return insist(*epoll, [&]() -> Answer<std::size_t> {
      const std::size_t told = TRY(epoll->collect(*this, 1));
      if (told == 0) return Errno::eagain;
      return told;
    });
  }
  void begin(Simulation& simulation) {
    connect();
    epoll = make_reference<EpollFile>(machine.heap, machine.heap, time, 0u).value();
    server->add_descriptor();
    if (!epoll->add(Reference<FileDescription>(server), 5, {poll_event::readable | epoll_flag::edge, 5}).ok()) {
      __builtin_trap();
    }
    simulation.start_thread("reader", [&] {
      for (bool ended = false; !ended;) {
        simulation.expect(wait().ok(), "an epoll that fails");
        Answer<std::size_t> received = try_to_receive(*server);
        for (; received.ok() && received.value() != 0; received = try_to_receive(*server)) ++bytes;
        ended = received.ok();
      }
    });
    simulation.start_thread("writer", [&] {
      for (int i = 0; i < 2; ++i) simulation.expect(send(*client).ok(), "nothing could be sent");
      client.reset();
    });
  }
  void end(Simulation& simulation) {
    const network::OneProcessor processor;
    simulation.expect(bytes == 2, "a byte was lost");
    epoll.reset();
    server->drop_descriptor();
    close_all(simulation);
  }
  Reference<EpollFile> epoll;
  int bytes = 0;
};

TEST(InternetOrders, EveryArrivalIsAnEdge) {
  expect_holds_in_every_order<EdgeBesideArrival>({.cpus = 2, .preemptions = 1});
}

struct ShutdownBesideSend : Ground {
  void begin(Simulation& simulation) {
    connect();
    simulation.start_thread("writer", [&] {
      const Answer<std::size_t> sent = send(*client);
      simulation.expect(sent.ok() || sent.error() == Errno::epipe, "another refusal");
      taken = sent.ok() ? 1 : 0;
    });
    simulation.start_thread("other thread", [&] {
      simulation.expect(client->shut_down(SocketFile::Direction::sending).ok(), "it cannot be shut down");
    });
  }
  void end(Simulation& simulation) {
    const network::OneProcessor processor;
    std::size_t received = 0;
    while (try_to_receive(*server).value() != 0) ++received;
    simulation.expect(received == taken, "what was sent and what arrived differ");
    close_all(simulation);
  }
  std::size_t taken = 0;
};

TEST(InternetOrders, WhatWasTakenBeforeAShutdownArrives) {
  expect_holds_in_every_order<ShutdownBesideSend>({.cpus = 2, .preemptions = 2});
}

// One gets the byte, the other the end.
struct TwoReaders : Ground {
  void begin(Simulation& simulation) {
    connect();
    for (int i = 0; i < 2; ++i) {
      simulation.start_thread("reader", [&] { bytes += receive(*server).value(); });
    }
    simulation.start_thread("writer", [&] {
      simulation.expect(send(*client).ok(), "nothing could be sent");
      client.reset();
    });
  }
  void end(Simulation& simulation) {
    const network::OneProcessor processor;
    simulation.expect(bytes == 1, "a byte was read twice, or by nobody");
    close_all(simulation);
  }
  std::size_t bytes = 0;
};

TEST(InternetOrders, TwoReadersShareAByteAndTheEnd) {
  expect_holds_in_every_order<TwoReaders>({.cpus = 2, .preemptions = 1});
}

// As the kernel's own: timers ring an alarm, whose thread runs them.
struct AlarmMachine : network::Machine {
  Nanoseconds now() override { return world.time; }
  void fill_random(std::span<std::byte> bytes) override { world.fill_random(bytes); }
  network::HeapBlocks& blocks() override { return world.blocks(); }
  void wake_at(Nanoseconds time) override { alarm.ring_at(time); }

  network::FakeMachine world;
  network::Alarm alarm;
};

// What a close leaves behind is seen to when its time has come, whatever the timers' thread does meanwhile.
struct CloseBesideAlarm : AlarmMachine, Ground, TimerAlarm {
  CloseBesideAlarm() : Ground(this) {}
  void ring_at(Nanoseconds) override {}
  void begin(Simulation& simulation) {
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).timers.emplace(*this);
    connect();
    simulation.start_thread("timers", [&] {
      alarm.wait();
      run_timers();
    });
    simulation.start_thread("program", [&] {
      client.reset();
      server.reset();
      world.time += network::seconds(61);
      for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).timers->expire(world.time);
    });
  }
  void run_timers() {
    stack.drive([&](network::Stack& it) {
      alarm.clear();
      it.run_timers();
    });
  }
  void end(Simulation& simulation) {
    network::OneProcessor processor;
    processor.processor.timers.emplace(*this);
    close_all(simulation);
    const std::size_t left = stack.drive([&](network::Stack& it) {
      alarm.clear();
      return it.tcp().time_wait_count();
    });
    simulation.expect(left == 0, "a TIME-WAIT outlived its time");
  }
};

TEST(InternetOrders, TimersRunWhenTheirTimeHasCome) {
  expect_holds_in_every_order<CloseBesideAlarm>({.cpus = 2, .preemptions = 1});
}

}  // namespace
}  // namespace ingot::os::interleavings
