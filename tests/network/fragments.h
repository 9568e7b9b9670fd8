// Pieces of IP packets, also such as nobody would cut.
#pragma once

#include "tests/network/wire_packet.h"

namespace ingot::network_scripts {

struct FragmentPlace {
  std::size_t begin = 0, length = 0;  // in what follows the packet's header; begin: a multiple of 8
  bool has_more = false;
  std::uint8_t mark = 0;  // which packet it is of
};

// Precondition: the packet has no options, and the place lies within it.
Bytes fragment_of(std::span<const std::uint8_t> packet, const FragmentPlace& place);

}  // namespace ingot::network_scripts
