// RootReader: the files of a root, be it a folder of the host or the tree of an image.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/file_tree.h"

namespace ingot::image {

struct RootReader {
  // A short text, or nothing.
  std::function<std::optional<std::string>(const std::string& path)> read;
  // The files that a pattern means, in order; a '*' may stand for any letters of its last name.
  std::function<std::vector<std::string>(const std::string& pattern)> list;
};

// The tree outlives its reader.
RootReader reader_of(const FileTree& tree);
// An empty root is the host's own.
RootReader reader_of_folder(const std::string& root);

// A path below `root`, with links followed inside it: an absolute link means the root's own.
Result<std::string> resolve_below(const std::string& root, const std::string& path);

}  // namespace ingot::image
