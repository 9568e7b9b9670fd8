// ICMP messages by the names that scripts have for them.
#pragma once

#include "tests/network/wire_packet.h"

namespace ingot::network_scripts {

// `echoed`: the packet of ours that the message is about, sent back to whom it came from.
Result<WirePacket> icmp_message(const PacketLine& line, const WirePacket& echoed);

}  // namespace ingot::network_scripts
