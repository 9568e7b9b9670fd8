// What this layer counts.
#pragma once

#include <cstdint>

namespace ingot::os::network {

struct IpCounters {
  std::uint64_t received = 0, delivered = 0, sent = 0;
  std::uint64_t bad_frames = 0, bad_headers = 0, bad_sources = 0, not_ours = 0, unknown_protocols = 0;
  std::uint64_t too_long = 0, fragments_sent = 0;
};
struct ReassemblyCounters {
  std::uint64_t fragments = 0, whole = 0, expired = 0, overlapping = 0, bad = 0, no_room = 0;
};
struct IcmpCounters {
  std::uint64_t received = 0, bad = 0, echoes = 0, refusals = 0, errors_sent = 0, rate_limited = 0;
};
struct NeighbourCounters {
  std::uint64_t asked = 0, answered = 0, heard = 0, held = 0, dropped = 0, unreachable = 0, bad = 0, conflicts = 0;
};
struct LoopCounters {
  std::uint64_t sent = 0, refused = 0, no_memory = 0;
};
struct DhcpCounters {
  std::uint64_t sent = 0, received = 0, bad = 0, leases = 0, refusals = 0, declined = 0, expired = 0;
};
struct InternetCounters {
  IpCounters ip;
  ReassemblyCounters reassembly;
  IcmpCounters icmp;
  NeighbourCounters neighbours;
  LoopCounters loop;
  DhcpCounters dhcp;
};

}  // namespace ingot::os::network
