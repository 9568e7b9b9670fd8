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
// by which the loader will look for it; what the tree holds already is not fetched. Fails for a foreign architecture
// and for what cannot be found.
Result<void> add_program(const ProgramSource& source, FileTree& tree);

// Fetches what the shared objects of the tree name, as add_program does: modules that a program will load by itself.
// Says which libraries were found nowhere: nobody may ever ask for them.
Result<std::vector<std::string>> add_libraries_of_files(const std::string& root, FileTree& tree);

// The files of the tree that make up a program once it has started: itself, its interpreter, its libraries. Fails for
// what the tree lacks, by name. `environment`: for LD_LIBRARY_PATH.
Result<std::vector<std::string>> program_parts(const FileTree& tree, const std::string& program,
                                               const std::vector<std::string>& environment);

}  // namespace ingot::image
