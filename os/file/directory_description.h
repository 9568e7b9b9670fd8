// An open directory: its names can be listed, and paths can start from it.
#pragma once

#include "os/file/node.h"

namespace ingot::os {

Answer<Reference<FileDescription>> open_directory(Directory& directory, std::uint32_t flags);
// O_PATH: a place in the tree and nothing else, of any kind of node.
Answer<Reference<FileDescription>> open_place(Node& node, std::uint32_t flags);

}  // namespace ingot::os
