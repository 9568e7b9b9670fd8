// FileTree: the root that the program will see, as paths and what stands there. It is a value in memory: whatever an
// archive's links and names say, nothing of the host is reached through them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "image/content.h"

namespace ingot::image {

struct FileNode {
  enum class Kind : std::uint8_t { file, directory, symbolic_link };

  Kind kind = Kind::file;
  std::uint32_t mode = 0644;  // permission bits
  Content content;            // of a file
  std::string target;         // of a symbolic link
};

class FileTree {
 public:
  // Puts a node at a path, and directories above it where there are none. What stood there goes; a directory stays one
  // if the new node is one, too. Links above the last name are followed, as a program would.
  Result<void> put(std::string_view path, FileNode node);
  Result<void> put_file(std::string_view path, std::uint32_t mode, Content content);
  // The same where nothing stands, and no file where a folder must be: for `what`, which the error names.
  Result<void> put_new_file(std::string_view path, std::uint32_t mode, Content content, std::string_view what);
  // With all that stands below. Nothing there: nothing happens. Links above the last name are followed for remove(),
  // and every link for remove_below().
  Result<void> remove(std::string_view path);
  Result<void> remove_below(std::string_view path);

  // Where put() would put it: links above the last name are followed. What does not exist is no link.
  Result<std::string> place_of(std::string_view path) const { return follow(path, false); }

  // The node at this very path.
  const FileNode* at(std::string_view path) const;
  // The same where links above the last name are followed.
  Result<const FileNode*> find(std::string_view path) const;
  // The path that this one means when every link is followed. Fails where it means nothing, or goes round in circles.
  Result<std::string> resolve(std::string_view path) const;

  // Absolute paths in order: parents before children. The root itself is not among them.
  const std::map<std::string, FileNode>& nodes() const { return nodes_; }

 private:
  Result<std::string> follow(std::string_view path, bool last_too) const;
  void erase_below(const std::string& place);

  std::map<std::string, FileNode> nodes_;
};

// "a//./b/" -> "/a/b". Fails for '..', for a zero inside, and for more than 4095 characters.
Result<std::string> normal_path(std::string_view path);
std::string_view parent_of(std::string_view path);

}  // namespace ingot::image
