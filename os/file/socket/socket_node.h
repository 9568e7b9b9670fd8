// A name in the tree that leads to a socket. It stays when the socket is closed, and leads to nobody then.
#pragma once

#include "os/file/node.h"

namespace ingot::os {

Answer<Reference<Node>> make_socket_node(const Reference<Volume>& volume, std::uint32_t permissions, LocalEnd& end);

}  // namespace ingot::os
