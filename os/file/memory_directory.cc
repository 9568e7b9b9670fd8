#include "os/file/memory_directory.h"

#include <new>

#include "os/file/directory_description.h"
#include "os/file/memory_file.h"
#include "os/file/socket/socket_node.h"
#include "os/file/symbolic_link.h"

namespace ingot::os {

MemoryDirectory::MemoryDirectory(Reference<Volume> volume, std::uint32_t permissions)
    : Directory(std::move(volume)), by_name_(this->volume().heap()), attributes_(LockRank::file_pages) {
  attributes_.with([&](Attributes& it) { it = Attributes::fresh(permissions, this->volume().now()); });
}

MemoryDirectory::~MemoryDirectory() { clear(); }

void MemoryDirectory::clear() {
  while (Entry* entry = entries_.first()) {
    entry->node->set_parent(nullptr);
    if (Directory* child = entry->node->as_directory(); child != nullptr) {
      // Its names become ours: emptying one directory after the other needs no stack, however deep they lie.
      if (MemoryDirectory* below = child->as_memory_directory(); below != nullptr) {
        below->stopped_ = nullptr;
        while (Entry* orphan = below->entries_.pop_front()) {
          below->by_name_.remove(*orphan);
          entries_.push_back(*orphan);
          by_name_.insert(*orphan, hash_of_text(orphan->name));
        }
      }
    }
    erase(*entry);
  }
}

MemoryDirectory::Entry* MemoryDirectory::entry(std::string_view name) {
  return by_name_.find(hash_of_text(name), [&](const Entry& it) { return it.name == name; });
}

Answer<void> MemoryDirectory::add(std::string_view name, NameStorage storage, Node& node, Existing existing) {
  if (Entry* old = entry(name); old != nullptr) {
    if (existing == Existing::refuses) return Errno::eexist;
    erase(*old);
  }
  const std::size_t letters = storage == NameStorage::copied ? name.size() : 0;
  void* block = TRY(volume().heap().allocate(sizeof(Entry) + letters, alignof(Entry)));
  if (letters != 0) {
    char* copy = static_cast<char*>(block) + sizeof(Entry);
    __builtin_memcpy(copy, name.data(), letters);
    name = {copy, letters};
  }
  Entry& made = *new (block) Entry(name, storage, node, next_position_++);
  entries_.push_back(made);
  by_name_.insert(made, hash_of_text(name));
  node.add_link();
  node.set_parent(this);
  return {};
}

void MemoryDirectory::erase(Entry& entry) {
  if (stopped_ == &entry) stopped_ = entries_.after(entry);
  entries_.remove(entry);
  by_name_.remove(entry);
  // It may still have another name here; one elsewhere is not looked for.
  const bool was_last = entry.node->drop_link();
  if (entry.node->parent() == this && (was_last || !name_of_child(*entry.node).ok())) entry.node->set_parent(nullptr);
  const std::size_t letters = entry.storage == NameStorage::copied ? entry.name.size() : 0;
  std::destroy_at(&entry);
  volume().heap().free(&entry, sizeof(Entry) + letters, alignof(Entry));
}

void MemoryDirectory::touch() {
  const Nanoseconds now = volume().now();
  attributes_.with([&](Attributes& it) { it.times.modified = it.times.changed = now; });
}

void MemoryDirectory::describe_as(std::uint32_t permissions, Nanoseconds modified) {
  attributes_.with([&](Attributes& it) {
    it.permissions = permissions & 07777;
    it.times = {modified, modified, modified};
  });
}

FileStatus MemoryDirectory::status() {
  FileStatus status = basic_status(0);
  attributes_.with([&](Attributes& it) { it.show_in(status); });
  status.links = names() == 0 ? 0 : 2;  // what is below is not counted: programs that mind then look themselves
  return status;
}

Answer<Reference<FileDescription>> MemoryDirectory::open(std::uint32_t flags) { return open_directory(*this, flags); }

Answer<void> MemoryDirectory::set_permissions(std::uint32_t permissions) {
  TRY(volume().check_changeable());
  attributes_.with([&](Attributes& it) { it.permissions = permissions & 07777; });
  return {};
}

Answer<void> MemoryDirectory::set_owner(std::optional<std::uint32_t> user, std::optional<std::uint32_t> group) {
  TRY(volume().check_changeable());
  attributes_.with([&](Attributes& it) { it.set_owner(user, group); });
  return {};
}

Answer<void> MemoryDirectory::set_times(std::optional<Nanoseconds> accessed, std::optional<Nanoseconds> modified) {
  TRY(volume().check_changeable());
  const Nanoseconds now = volume().now();
  attributes_.with([&](Attributes& it) { it.set_times(accessed, modified, now); });
  return {};
}

Answer<Reference<Node>> MemoryDirectory::find(std::string_view name) {
  if (Entry* found = entry(name); found != nullptr) return found->node;
  return Errno::enoent;
}

// Nothing can be made in a directory that somebody holds but that has no name any more.
Answer<void> MemoryDirectory::check_change() const {
  TRY(volume().check_writable());
  if (names() == 0) return Errno::enoent;
  return {};
}

Answer<Reference<Node>> MemoryDirectory::create(std::string_view name, const NewNode& wanted) {
  if (entry(name) != nullptr) return Errno::eexist;
  TRY(check_change());
  Reference<Volume> here(volume());
  Reference<Node> made;
  switch (wanted.kind) {
    case FileKind::regular: made = TRY(make_memory_file(here, wanted.permissions)); break;
    case FileKind::directory:
      made = TRY(make_reference<MemoryDirectory>(here->heap(), here, wanted.permissions));
      break;
    case FileKind::symbolic_link: made = TRY(make_symbolic_link(here, wanted.target, NameStorage::copied)); break;
    case FileKind::socket: made = TRY(make_socket_node(here, wanted.permissions, *wanted.socket)); break;
    default: return Errno::eperm;
  }
  TRY(add(name, NameStorage::copied, *made));
  touch();
  return made;
}

Answer<Reference<Node>> MemoryDirectory::create_unnamed(std::uint32_t permissions) {
  TRY(check_change());
  return make_memory_file(Reference<Volume>(volume()), permissions);
}

Answer<void> MemoryDirectory::link(std::string_view name, Node& node) {
  if (entry(name) != nullptr) return Errno::eexist;
  if (node.as_directory() != nullptr) return Errno::eperm;
  if (&node.volume() != &volume()) return Errno::exdev;
  TRY(check_change());
  TRY(add(name, NameStorage::copied, node));
  touch();
  return {};
}

Answer<void> MemoryDirectory::remove(std::string_view name, Removes removes) {
  Entry* old = entry(name);
  if (old == nullptr) return Errno::enoent;
  TRY(volume().check_writable());
  Directory* child = old->node->as_directory();
  if (removes == Removes::file && child != nullptr) return Errno::eisdir;
  if (removes == Removes::directory) {
    if (child == nullptr) return Errno::enotdir;
    if (&child->volume() != &volume()) return Errno::ebusy;  // another tree stands there
    if (child->as_memory_directory()->count() != 0) return Errno::enotempty;
  }
  erase(*old);
  touch();
  return {};
}

Answer<void> MemoryDirectory::list(std::uint64_t position, DirectorySink& sink) {
  Entry* entry = entries_.first();
  if (stopped_ != nullptr && position == stopped_position_) entry = stopped_;
  while (entry != nullptr && entry->position < position) entry = entries_.after(*entry);
  for (; entry != nullptr; entry = entries_.after(*entry)) {
    if (!TRY(sink.add({entry->name, entry->node->inode(), entry->node->kind(), entry->position + 1}))) break;
    position = entry->position + 1;
  }
  stopped_ = entry;
  stopped_position_ = position;
  return {};
}

Answer<std::string_view> MemoryDirectory::name_of_child(const Node& child) {
  for (Entry& entry : entries_) {
    if (entry.node.get() == &child) return entry.name;
  }
  return Errno::enoent;
}

// What stands at the new name of something that is renamed may go if it is of the same sort and empty.
Answer<void> MemoryDirectory::check_replaceable(Entry& old, const Node& by) {
  Directory* directory = old.node->as_directory();
  if (directory == nullptr) {
    if (by.kind() == FileKind::directory) return Errno::enotdir;
    return {};
  }
  if (by.kind() != FileKind::directory) return Errno::eisdir;
  if (&directory->volume() != &volume()) return Errno::ebusy;
  if (directory->as_memory_directory()->count() != 0) return Errno::enotempty;
  return {};
}

Answer<void> MemoryDirectory::take_from(Directory& source_directory, std::string_view name, std::string_view new_name,
                                        std::uint32_t flags) {
  if ((flags & ~rename_flag::keep_existing) != 0) return Errno::einval;
  if (&source_directory.volume() != &volume()) return Errno::exdev;
  Entry* moved =
      source_directory.as_memory_directory() == nullptr ? nullptr : source_directory.as_memory_directory()->entry(name);
  if (moved == nullptr) return Errno::enoent;
  TRY(check_change());
  MemoryDirectory& source = *source_directory.as_memory_directory();
  Directory* moved_directory = moved->node->as_directory();
  if (moved_directory != nullptr && &moved_directory->volume() != &volume()) return Errno::ebusy;
  for (Directory* above = this; above != nullptr; above = above->parent()) {
    if (above == moved_directory) return Errno::einval;  // into itself
  }
  Entry* old = entry(new_name);
  if (old != nullptr) {
    if ((flags & rename_flag::keep_existing) != 0) return Errno::eexist;
    if (old->node == moved->node) return {};
    TRY(check_replaceable(*old, *moved->node));
  }
  // The new name first: whatever fails leaves the old one.
  Reference<Node> node = moved->node;
  if (old != nullptr) {
    Reference<Node> kept = old->node;
    std::swap(old->node, node);  // now `old` leads to the moved node
    old->node->add_link();
    kept->drop_link();
    if (kept->parent() == this) kept->set_parent(nullptr);
    old->node->set_parent(this);
  } else {
    TRY(add(new_name, NameStorage::copied, *node));
  }
  // Where it is now is known: the old name's directory need not look for another name of it.
  Reference<Node> here = moved->node;
  here->set_parent(nullptr);
  source.erase(*moved);
  here->set_parent(this);
  source.touch();
  touch();
  return {};
}

}  // namespace ingot::os
