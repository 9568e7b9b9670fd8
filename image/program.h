// A Linux program and what it needs to start: its interpreter and its libraries, found as the loader would find them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "image/file_tree.h"

namespace ingot::image {

struct ProgramSource {
  std::string path;         // on the host
  std::string destination;  // in the image
  std::string root;         // where interpreter and libraries are looked for; empty: the host's own folders
};

// Puts the program and, if it is dynamic, its interpreter and every library it names into the tree, each under the path
// by which the loader will look for it. Fails for a foreign architecture and for what cannot be found.
Result<void> add_program(const ProgramSource& source, FileTree& tree);

// A path below `root`, with links followed inside it: an absolute link means the root's own.
Result<std::string> resolve_below(const std::string& root, const std::string& path);

}  // namespace ingot::image
