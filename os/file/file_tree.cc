#include "os/file/file_tree.h"

#include "os/file/directory_description.h"

namespace ingot::os {

using Last = PathWalk::Last;

FileTree::FileTree(Reference<MemoryDirectory> root, Mutex& names)
    : root_(std::move(root)), seen_root_(*root_), names_(names) {
  root_->add_link();
}

FileTree::~FileTree() {
  seen_root_.reset();
  root_->clear();
}

Answer<void> FileTree::set_root(Node& node) {
  if (node.as_directory() == nullptr) return Errno::enotdir;
  Reference<Directory> root(*node.as_directory());
  const MutexGuard guard(names_);
  std::swap(seen_root_, root);
  return {};
}

Answer<void> FileTree::mount(std::string_view path, Node& node) {
  const MutexGuard guard(names_);
  MemoryDirectory* here = root_.get();
  while (true) {
    const std::size_t begin = path.find_first_not_of('/');
    if (begin == std::string_view::npos) return Errno::ebusy;  // the root stays
    path.remove_prefix(begin);
    const std::size_t end = path.find('/');
    const std::string_view name = path.substr(0, end);
    if (end == std::string_view::npos)
      return here->add(name, NameStorage::borrowed, node, MemoryDirectory::Existing::is_replaced);
    path.remove_prefix(end);
    Answer<Reference<Node>> next = here->find(name);
    if (!next.ok()) {
      Reference<Volume> volume(here->volume());
      Reference<MemoryDirectory> made = TRY(make_reference<MemoryDirectory>(volume->heap(), volume, 0755u));
      TRY(here->add(name, NameStorage::borrowed, *made));
      next = Reference<Node>(made);
    }
    Directory* directory = next.value()->as_directory();
    here = directory == nullptr ? nullptr : directory->as_memory_directory();
    if (here == nullptr) return Errno::enotdir;
  }
}

PathWalk::Roots FileTree::roots() { return {*seen_root_, *root_}; }

Answer<Reference<Node>> FileTree::find(Directory& from, std::string_view path, LastLink last) {
  const MutexGuard guard(names_);
  PathWalk walk(roots(), from, most_links);
  TRY(walk.run(path, last == LastLink::followed ? Last::followed : Last::kept));
  return std::move(walk.found());
}

Answer<Reference<Node>> FileTree::find_or_create(Directory& from, std::string_view path, std::uint32_t flags,
                                                 std::uint32_t permissions) {
  const bool exclusive = (flags & open_flag::exclusive) != 0;
  const bool stays = exclusive || (flags & open_flag::no_follow) != 0;
  const MutexGuard guard(names_);
  PathWalk walk(roots(), from, most_links);
  TRY(walk.run(path, stays ? Last::parent : Last::parent_of_followed));
  // A link that no path describes led to what is open already: /dev/stdout.
  if (walk.name().empty() && walk.found()->as_directory() == nullptr) return std::move(walk.found());
  if (walk.name().empty() || walk.name() == "." || walk.name() == "..")
    return exclusive ? Errno::eexist : Errno::eisdir;
  if (walk.ends_in_slash()) return Errno::eisdir;
  Directory* directory = walk.found()->as_directory();
  if (directory == nullptr) return Errno::enotdir;
  Answer<Reference<Node>> existing = directory->find(walk.name());
  if (existing.ok() && exclusive) return Errno::eexist;
  if (existing.ok() || existing.error() != Errno::enoent) return existing;
  return directory->create(walk.name(), {FileKind::regular, permissions, {}});
}

Answer<Reference<FileDescription>> FileTree::open(Directory& from, std::string_view path, std::uint32_t flags,
                                                  std::uint32_t permissions) {
  const bool writes = (flags & open_flag::access_mask) != open_flag::read_only;
  if ((flags & open_flag::path) != 0) flags &= open_flag::path | open_flag::directory | open_flag::no_follow;
  if ((flags & open_flag::temporary) == open_flag::temporary) {
    if (!writes) return Errno::einval;
    Reference<Node> where = TRY(find(from, path, LastLink::followed));
    Directory* directory = where->as_directory();
    if (directory == nullptr) return Errno::enotdir;
    const Reference<Node> made = TRY(directory->create_unnamed(permissions));
    return made->open(flags);
  }
  if ((flags & open_flag::create) != 0 && (flags & open_flag::directory) != 0) return Errno::einval;
  const LastLink last = (flags & open_flag::no_follow) != 0 ? LastLink::kept : LastLink::followed;
  const Reference<Node> node =
      TRY((flags & open_flag::create) != 0 ? find_or_create(from, path, flags, permissions) : find(from, path, last));
  return open_node(*node, flags);
}

Answer<Reference<FileDescription>> FileTree::open_node(Node& node, std::uint32_t flags) {
  const bool writes = (flags & open_flag::access_mask) != open_flag::read_only;
  if ((flags & open_flag::directory) != 0 && node.as_directory() == nullptr) return Errno::enotdir;
  if ((flags & open_flag::path) != 0) return open_place(node, flags);
  if (node.kind() == FileKind::symbolic_link) return Errno::eloop;
  const bool truncates = (flags & open_flag::truncate) != 0 && node.kind() == FileKind::regular;
  if (node.as_directory() != nullptr && (writes || (flags & open_flag::create) != 0)) return Errno::eisdir;
  if (node.kind() == FileKind::regular && (writes || truncates)) TRY(node.volume().check_writable());
  if (truncates) TRY(node.truncate(0));
  return node.open(flags);
}

Answer<void> FileTree::make(Directory& from, std::string_view path, const NewNode& wanted) {
  const MutexGuard guard(names_);
  PathWalk walk(roots(), from, most_links);
  TRY(walk.run(path, Last::parent));
  Directory* directory = walk.found()->as_directory();
  if (walk.name().empty() || walk.name() == "." || walk.name() == "..") return Errno::eexist;
  if (directory->find(walk.name()).ok()) return Errno::eexist;
  if (walk.ends_in_slash() && wanted.kind != FileKind::directory) return Errno::enoent;
  TRY(directory->create(walk.name(), wanted));
  return {};
}

Answer<void> FileTree::link(Node& node, Directory& to, std::string_view path) {
  const MutexGuard guard(names_);
  PathWalk walk(roots(), to, most_links);
  TRY(walk.run(path, Last::parent));
  if (walk.name().empty() || walk.name() == "." || walk.name() == "..") return Errno::eexist;
  if (walk.ends_in_slash()) return Errno::enoent;
  return walk.found()->as_directory()->link(walk.name(), node);
}

Answer<void> FileTree::remove(Directory& from, std::string_view path, Directory::Removes removes) {
  const MutexGuard guard(names_);
  PathWalk walk(roots(), from, most_links);
  TRY(walk.run(path, Last::parent));
  const bool directories = removes == Directory::Removes::directory;
  if (walk.name().empty()) return directories ? Errno::ebusy : Errno::eisdir;  // the root
  if (walk.name() == ".") return directories ? Errno::einval : Errno::eisdir;
  if (walk.name() == "..") return directories ? Errno::enotempty : Errno::eisdir;
  Directory& directory = *walk.found()->as_directory();
  if (walk.ends_in_slash() && TRY(directory.find(walk.name()))->as_directory() == nullptr) return Errno::enotdir;
  return directory.remove(walk.name(), removes);
}

Answer<void> FileTree::rename(Directory& from, std::string_view path, Directory& to, std::string_view new_path,
                              std::uint32_t flags) {
  const MutexGuard guard(names_);
  PathWalk source(roots(), from, most_links), target(roots(), to, most_links);
  TRY(source.run(path, Last::parent));
  TRY(target.run(new_path, Last::parent));
  for (PathWalk* walk : {&source, &target}) {
    if (walk->name().empty() || walk->name() == "." || walk->name() == "..") return Errno::ebusy;
  }
  Directory& directory = *source.found()->as_directory();
  const bool is_directory = TRY(directory.find(source.name()))->as_directory() != nullptr;
  if (!is_directory && (source.ends_in_slash() || target.ends_in_slash())) return Errno::enotdir;
  return target.found()->as_directory()->take_from(directory, source.name(), target.name(), flags);
}

Answer<std::string_view> FileTree::path_of(Node& node, std::span<char> room) {
  const MutexGuard guard(names_);
  std::size_t begin = room.size();
  for (Node* here = &node; here != seen_root_.get(); here = here->parent()) {
    if (here->parent() == nullptr) return here == root_.get() ? Errno::exdev : Errno::enoent;
    const std::string_view name = TRY(here->parent()->name_of_child(*here));
    if (name.size() + 1 > begin) return Errno::erange;
    begin -= name.size();
    __builtin_memcpy(room.data() + begin, name.data(), name.size());
    room[--begin] = '/';
  }
  if (begin == room.size()) {
    if (begin == 0) return Errno::erange;
    room[--begin] = '/';
  }
  return std::string_view(room.data() + begin, room.size() - begin);
}

std::string_view FileTree::instead_of_path(Errno error) {
  if (error == Errno::exdev) return "(unreachable)";
  return error == Errno::erange ? "(too long)" : "(deleted)";
}

Answer<std::size_t> FileTree::copy_path(Node& node, std::span<char> text) {
  Allocator& heap = root_->volume().heap();
  constexpr std::size_t bytes = most_path_bytes + 1;
  char* room = static_cast<char*>(TRY(heap.allocate(bytes, 1)));
  const Answer<std::string_view> path = path_of(node, {room, bytes});
  const bool told = path.ok() || path.error() != Errno::erange;
  const std::string_view shown = path.ok() ? path.value() : instead_of_path(path.error());
  const std::size_t letters = shown.size() < text.size() ? shown.size() : text.size();
  if (told && letters != 0) __builtin_memcpy(text.data(), shown.data(), letters);
  heap.free(room, bytes, 1);
  if (!told) return path.error();
  return letters;
}

}  // namespace ingot::os
