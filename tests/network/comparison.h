// Comparison: where a packet that was sent differs from the line that a script has for it.
#pragma once

#include <string>

#include "tests/network/wire_packet.h"

namespace ingot::network_scripts {

struct ComparisonRules {
  bool option_order_matters = true;  // and their filling
};

// The first difference; empty where there is none. `packet` is in the script's numbers.
std::string difference(const WirePacket& packet, const PacketLine& line, const ComparisonRules& rules);

}  // namespace ingot::network_scripts
