// A peer that says anything at all, by numbers that a test or a fuzzer draws.
#pragma once

#include "os/network/tcp/tcp_fixture.h"

namespace ingot::os::network {

// draw(bound): a number below it. goes_on(): whether there is more to say. What must hold is checked after every step.
template <class Draw, class GoesOn>
void play_hostile(Draw&& draw, GoesOn&& goes_on, int allocations = INT_MAX) {
  PlayedPeer world;
  TestHost& host = world.host;
  TcpSettings& settings = host.its_settings;
  settings.insecure_reset = draw(8) == 0;
  settings.insecure_syn = draw(8) == 0;
  settings.timestamps = draw(2) == 0;
  settings.quick_acknowledgments = static_cast<std::uint8_t>(draw(3));
  host.options.receive_buffer = draw(3) == 0 ? 100 + draw(5000) : 0;
  host.options.no_delay = draw(2) == 0;
  host.options.keep_alive = draw(2) == 0;
  host.link.its_properties.computes_checksums = host.link.its_properties.cuts_v4 = draw(2) == 0;
  world.selects = draw(4) != 0;
  world.has_timestamps = draw(2) == 0;
  world.scale = static_cast<int>(draw(16)) - 1;
  world.machine.heap.left = allocations;
  if (!host.make(world.peer, PlayedPeer::our_start).ok()) return;
  if (draw(2) == 0) {
    host.connection->connect(world.machine.time);
  } else {
    world.finish_handshake();
  }
  // Places of both streams: near where they are, or anywhere.
  std::uint32_t ours = 1, theirs = 1;
  const auto near = [&](std::uint32_t place) {
    switch (draw(6)) {
      case 0: return draw(0xffffffff);
      case 1: return place + draw(20) - 10;
      case 2: return place + draw(70000) - 35000;
      default: return place;
    }
  };
  while (goes_on() && host.socket) {
    switch (draw(12)) {
      case 0: world.advance(milliseconds(draw(3) == 0 ? draw(100000) : draw(300))); break;
      case 1: (void)world.write(std::string(draw(draw(2) == 0 ? 100 : 30000), 'x'), draw(4) == 0); break;
      case 2: world.read(1 + draw(5000)); break;
      case 3: host.has_room = draw(3) != 0; break;
      case 4:
        if (draw(20) == 0) (void)host.socket->shut_down(draw(2) == 0, draw(2) == 0, world.machine.time);
        if (draw(40) == 0) host.socket->close(world.machine.time);
        break;
      case 5: {
        Refusal refusal{.kind = static_cast<Refusal::Kind>(draw(6)), .from = {}, .to = {}};
        refusal.mtu = static_cast<std::uint16_t>(draw(2000));
        refusal.sequence = PlayedPeer::our_start + near(ours);
        if (host.connection) host.connection->refused(refusal);
        break;
      }
      default: {
        const std::uint8_t usual = TcpHeader::ack | (draw(30) == 0 ? TcpHeader::fin : 0);
        const auto flags = static_cast<std::uint8_t>(draw(8) == 0 ? draw(256) : usual);
        Segment segment = world.acknowledgment(near(theirs), near(ours), static_cast<std::uint16_t>(draw(65536)));
        segment.flags = flags;
        if (draw(4) == 0) segment.timestamp = near(segment.timestamp), segment.echo = near(segment.echo);
        if (draw(3) == 0) segment.window = static_cast<std::uint16_t>(draw(3));
        for (std::uint32_t i = draw(5); i-- > 0;) {
          const std::uint32_t begin = near(ours);
          segment.ranges[segment.range_count++] = {
              SequenceNumber(PlayedPeer::our_start + begin),
              SequenceNumber(PlayedPeer::our_start + begin + near(1 + draw(3000)))};
        }
        if ((flags & TcpHeader::syn) != 0) segment.maximum_segment = static_cast<std::uint16_t>(draw(65536));
        world.say(segment, std::string(draw(2) == 0 ? 0 : draw(2000), 'y'));
      }
    }
    for (const PlayedPeer::Heard& heard : std::exchange(world.heard, {})) {
      ours = heard.at + heard.length();
      if (heard.has(TcpHeader::ack)) theirs = heard.acknowledges;
    }
    TcpInspector::check(*host.socket);
  }
  world.machine.heap.left = INT_MAX;
}

}  // namespace ingot::os::network
