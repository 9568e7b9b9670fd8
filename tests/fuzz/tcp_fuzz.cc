// A peer that says anything, in any state of a connection, and headers of any bytes: what must hold does, and nothing
// leaks.
#include "os/network/tcp/hostile_fixture.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;
using namespace ingot::os::network;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  {
    TestMachine machine;
    Received packet = received_from(machine, std::as_bytes(std::span(data, size)));
    packet.transport_verified = true;
    if (const std::optional<Segment> segment = take_segment({}, packet)) {
      require(segment->range_count <= Segment::most_ranges && segment->payload_bytes == packet.bytes.bytes());
    }
  }
  ByteSource source(data, size);
  const auto draw = [&](std::uint32_t bound) {
    return (bound <= 256 ? source.take<std::uint8_t>() : source.take<std::uint32_t>()) % bound;
  };
  play_hostile(draw, [&] { return !source.empty(); });
  return 0;
}
