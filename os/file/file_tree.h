// FileTree: from paths to nodes. The root is all there is: ".." at it stays, and links start over from it. A program
// may choose another one (chroot), and has no name any more for what is outside.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "os/file/memory_directory.h"
#include "os/file/node.h"
#include "os/file/path_walk.h"
#include "os/schedule/mutex.h"

namespace ingot::os {

// Whether a symbolic link at the end of a path is followed or is what was meant.
enum class LastLink : std::uint8_t { followed, kept };

class FileTree {
 public:
  static constexpr unsigned most_links = 40;

  // The root's directories guard their names with `names`, as all of its services say.
  FileTree(Reference<MemoryDirectory> root, Mutex& names);
  ~FileTree();
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;

  MemoryDirectory& root() { return *root_; }
  // From now on paths start at this directory. ENOTDIR.
  Answer<void> set_root(Node& node);
  // Puts another tree where `path` is. Directories on the way are made where they are missing; the letters outlive all.
  Answer<void> mount(std::string_view path, Node& node);

  // `from`: where a path without a leading slash starts.
  Answer<Reference<Node>> find(Directory& from, std::string_view path, LastLink last);
  Answer<Reference<FileDescription>> open(Directory& from, std::string_view path, std::uint32_t flags,
                                          std::uint32_t permissions);
  Answer<void> make(Directory& from, std::string_view path, const NewNode& wanted);
  Answer<void> link(Node& node, Directory& to, std::string_view path);
  Answer<void> remove(Directory& from, std::string_view path, Directory::Removes removes);
  Answer<void> rename(Directory& from, std::string_view path, Directory& to, std::string_view new_path,
                      std::uint32_t flags);
  // The path from the root to a node, written to the end of `room`. ENOENT: it was removed; EXDEV: it is outside;
  // ERANGE: no room.
  Answer<std::string_view> path_of(Node& node, std::span<char> room);
  // What is shown of a node that has none: "(deleted)", "(unreachable)" from this root.
  static std::string_view instead_of_path(Errno error);
  // The same from the begin of `text` on, cut where it ends, or what is shown instead. ERANGE: no path is so long.
  Answer<std::size_t> copy_path(Node& node, std::span<char> text);

 private:
  PathWalk::Roots roots();
  Answer<Reference<FileDescription>> open_node(Node& node, std::uint32_t flags);
  Answer<Reference<Node>> find_or_create(Directory& from, std::string_view path, std::uint32_t flags,
                                         std::uint32_t permissions);

  Reference<MemoryDirectory> root_;
  Reference<Directory> seen_root_;  // where paths start; names_ guards it
  Mutex& names_;
};

}  // namespace ingot::os
