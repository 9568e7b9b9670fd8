// MemoryDirectory: names that lead to nodes, kept in memory. The initramfs, the tmpfs and the fixed parts of /proc,
// /sys and /dev are made of it; whether programs may change it is said by its volume.
#pragma once

#include "base/intrusive_list.h"
#include "os/file/attributes.h"
#include "os/file/hash_table.h"
#include "os/file/node.h"

namespace ingot::os {

// Whether a name's letters stay where they are for as long as the directory lives (in the archive, in the kernel).
enum class NameStorage : std::uint8_t { copied, borrowed };

class MemoryDirectory final : public Directory {
 public:
  MemoryDirectory(Reference<Volume> volume, std::uint32_t permissions);
  ~MemoryDirectory();

  MemoryDirectory* as_memory_directory() override { return this; }
  // By the kernel, on any volume. EEXIST when the name is taken; with Replace, the new node takes its place.
  enum class Existing : std::uint8_t { refuses, is_replaced };
  Answer<void> add(std::string_view name, NameStorage storage, Node& node, Existing existing = Existing::refuses);
  void describe_as(std::uint32_t permissions, Nanoseconds modified);
  std::size_t count() const { return by_name_.count(); }
  // How many names a search looks at, at most.
  std::size_t longest_search() const { return by_name_.longest_chain(); }
  // Takes all names away, here and below: what no program holds goes.
  void clear();

  FileStatus status() override;
  Answer<Reference<FileDescription>> open(std::uint32_t flags) override;
  Answer<void> set_permissions(std::uint32_t permissions) override;
  Answer<void> set_owner(std::optional<std::uint32_t> user, std::optional<std::uint32_t> group) override;
  Answer<void> set_times(std::optional<Nanoseconds> accessed, std::optional<Nanoseconds> modified) override;

  Answer<Reference<Node>> find(std::string_view name) override;
  Answer<Reference<Node>> create(std::string_view name, const NewNode& wanted) override;
  Answer<Reference<Node>> create_unnamed(std::uint32_t permissions) override;
  Answer<void> link(std::string_view name, Node& node) override;
  Answer<void> remove(std::string_view name, Removes removes) override;
  Answer<void> list(std::uint64_t position, DirectorySink& sink) override;
  Answer<std::string_view> name_of_child(const Node& child) override;
  Answer<void> take_from(Directory& source, std::string_view name, std::string_view new_name,
                         std::uint32_t flags) override;

 private:
  struct Entry;

  Entry* entry(std::string_view name);
  Answer<void> check_change() const;
  Answer<void> check_replaceable(Entry& old, const Node& by);
  void erase(Entry& entry);
  void touch();

  IntrusiveList<Entry, struct DirectoryTag> entries_;  // by their positions
  HashTable<Entry, struct DirectoryTag> by_name_;
  std::uint64_t next_position_ = 0;
  // Where the last listing stopped for want of room: the next one goes on there without a search.
  Entry* stopped_ = nullptr;
  std::uint64_t stopped_position_ = 0;  // that the program was given for it
  LockedAttributes attributes_;
};

// A name's place in its directory; the letters follow it in memory, or lie elsewhere.
struct MemoryDirectory::Entry : ListLink<struct DirectoryTag>, HashLink<struct DirectoryTag> {
  Entry(std::string_view letters, NameStorage where, Node& leads_to, std::uint64_t place)
      : name(letters), storage(where), node(leads_to), position(place) {}

  std::string_view name;
  NameStorage storage;
  Reference<Node> node;
  std::uint64_t position;  // grows: a program that lists while others remove misses nothing
};

namespace rename_flag {
inline constexpr std::uint32_t keep_existing = 1, exchange = 2;  // RENAME_NOREPLACE, RENAME_EXCHANGE
}

}  // namespace ingot::os
