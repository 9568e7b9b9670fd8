// Node: something that has a name in the tree, opened or not. Directory: a node that has names in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "os/file/file_description.h"
#include "os/file/file_status.h"
#include "os/file/volume.h"

namespace ingot::os {

class Directory;
class ImageFile;
class LocalEnd;
class MemoryDirectory;

inline constexpr std::size_t most_name_bytes = 255;   // of one name
inline constexpr std::size_t most_path_bytes = 4095;  // of a path, without the 0 that ends it

class Node : public Shared {
 public:
  Volume& volume() const { return *volume_; }
  FileKind kind() const { return kind_; }
  std::uint64_t inode() const { return inode_; }
  virtual Directory* as_directory() { return nullptr; }
  virtual ImageFile* as_image_file() { return nullptr; }  // what a program can be loaded from
  virtual LocalEnd* as_local_end() { return nullptr; }    // the socket that has this name

  // A directory that has a name for it: where ".." leads, and how its path is told. None at the root, and for what was
  // removed. Guarded by the tree's lock.
  Directory* parent() const { return parent_; }
  void set_parent(Directory* parent) { parent_ = parent; }

  virtual FileStatus status() = 0;
  virtual Answer<Reference<FileDescription>> open(std::uint32_t flags) = 0;
  // The path a symbolic link stands for, cut to the room there is.
  virtual Answer<std::size_t> read_link(std::span<char>) { return Errno::einval; }
  // Where a link leads that no path describes: /proc/self/fd/1 to a pipe. None: its text is followed.
  virtual Answer<Reference<Node>> destination() { return Reference<Node>(); }

  virtual Answer<void> truncate(std::uint64_t) { return Errno::einval; }
  virtual Answer<void> set_permissions(std::uint32_t) { return refuse_change(); }
  virtual Answer<void> set_owner(std::optional<std::uint32_t>, std::optional<std::uint32_t>) { return refuse_change(); }
  virtual Answer<void> set_times(std::optional<Nanoseconds>, std::optional<Nanoseconds>) { return refuse_change(); }
  // Names that lead to it, counted by directories under the tree's lock. True: that was the last one.
  virtual void add_link() { ++names_; }
  virtual bool drop_link() { return --names_ == 0; }

 protected:
  Node(Reference<Volume> volume, FileKind kind)
      : volume_(std::move(volume)), kind_(kind), inode_(volume_->new_inode()) {}
  ~Node() = default;

  std::uint32_t names() const { return names_; }
  // What every kind answers alike.
  FileStatus basic_status(std::uint32_t permissions) const {
    FileStatus status;
    status.device = volume_->device();
    status.inode = inode_;
    status.kind = kind_;
    status.permissions = permissions;
    return status;
  }

 private:
  Answer<void> refuse_change() const {
    TRY(volume_->check_changeable());
    return Errno::eopnotsupp;
  }

  Reference<Volume> volume_;
  FileKind kind_;
  std::uint64_t inode_;
  std::uint32_t names_ = 0;
  Directory* parent_ = nullptr;  // it cannot go first: it would not be empty
};

// What a program asks to be made.
struct NewNode {
  FileKind kind = FileKind::regular;
  std::uint32_t permissions = 0;
  std::string_view target;     // of a symbolic link
  LocalEnd* socket = nullptr;  // of a socket's name
};

// Its functions that look at names run under the tree's lock.
class Directory : public Node {
 public:
  enum class Removes : std::uint8_t { file, directory };

  Directory* as_directory() final { return this; }
  virtual MemoryDirectory* as_memory_directory() { return nullptr; }

  virtual Answer<Reference<Node>> find(std::string_view name) = 0;
  virtual Answer<Reference<Node>> create(std::string_view, const NewNode&) { return Errno::erofs; }
  // A file that has no name and goes with its last descriptor.
  virtual Answer<Reference<Node>> create_unnamed(std::uint32_t) { return Errno::eopnotsupp; }
  // EPERM: a directory; EXDEV: of another volume.
  virtual Answer<void> link(std::string_view, Node&) { return Errno::erofs; }
  virtual Answer<void> remove(std::string_view, Removes) { return Errno::erofs; }
  // Gives out the entries from `position` on, "." and ".." not among them, until the sink is full.
  virtual Answer<void> list(std::uint64_t position, DirectorySink& sink) = 0;
  // The name by which this directory has `child`, for getcwd.
  virtual Answer<std::string_view> name_of_child(const Node&) { return Errno::enoent; }
  // Moves a name from one directory of a volume to another.
  virtual Answer<void> take_from(Directory&, std::string_view, std::string_view, std::uint32_t) { return Errno::erofs; }

 protected:
  explicit Directory(Reference<Volume> volume) : Node(std::move(volume), FileKind::directory) {}
  ~Directory() = default;
};

}  // namespace ingot::os
