// SymbolicLink: a name that stands for a path.
#pragma once

#include "os/file/memory_directory.h"

namespace ingot::os {

Answer<Reference<Node>> make_symbolic_link(Reference<Volume> volume, std::string_view target, NameStorage storage);

}  // namespace ingot::os
