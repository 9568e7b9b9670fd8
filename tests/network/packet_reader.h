// Reads what follows a packet's `<` or `>`.
#pragma once

#include "tests/network/token_stream.h"

namespace ingot::network_scripts {

Result<PacketLine> read_packet(TokenStream& tokens);

}  // namespace ingot::network_scripts
