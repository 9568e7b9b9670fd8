// PathWalk: one path, followed name by name.
#pragma once

#include <string_view>

#include "os/file/node.h"

namespace ingot::os {

// Precondition: the tree's lock is held.
class PathWalk {
 public:
  // What to do with the last name.
  enum class Last : std::uint8_t {
    followed,            // find it; a symbolic link leads on
    kept,                // find it, a link itself
    parent,              // find only its directory: the name is to be made or removed
    parent_of_followed,  // ... of where a link leads, for open(O_CREAT)
  };

  // Where ".." stays: at the program's root, and, for who stands outside it, at the tree's.
  struct Roots {
    Directory& seen;
    Directory& real;
  };
  PathWalk(Roots roots, Directory& from, unsigned most_links)
      : root_(roots.seen), real_root_(roots.real), from_(from), most_links_(most_links) {}
  PathWalk(const PathWalk&) = delete;
  PathWalk& operator=(const PathWalk&) = delete;
  ~PathWalk() { free_text(); }

  Answer<void> run(std::string_view path, Last last);

  // After run: what was found; with a `parent`, the directory.
  Reference<Node>& found() { return current_; }
  // With a `parent`: the name itself; ".", ".." or nothing when the path ended so.
  std::string_view name() const { return name_; }
  bool ends_in_slash() const { return ends_in_slash_; }

 private:
  Answer<void> step_up();
  Answer<void> follow(Node& link, std::string_view rest);
  void free_text();

  Directory& root_;
  Directory& real_root_;
  Directory& from_;
  unsigned most_links_;
  unsigned links_ = 0;
  Reference<Node> current_;
  std::string_view name_;
  bool ends_in_slash_ = false;
  std::string_view path_;  // what is still to be followed
  char* text_ = nullptr;   // where it lies, once a link was followed
  std::size_t text_bytes_ = 0;
};

}  // namespace ingot::os
