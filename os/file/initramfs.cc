#include "os/file/initramfs.h"

#include <memory>

#include "os/file/cpio.h"
#include "os/file/symbolic_link.h"

namespace ingot::os {
namespace {

using Field = CpioEntry::Field;

Error text_of_errno(Errno error, std::string_view path) {
  const ErrorCode code = error == Errno::enomem ? ErrorCode::out_of_memory : ErrorCode::corrupt;
  return Error::of(code, "expected to add '", path, "' to the initramfs, found ", name_of(error));
}

// A directory and the last name of a path.
struct Place {
  MemoryDirectory* directory;
  std::string_view name;
};

Result<Reference<MemoryDirectory>> enter(MemoryDirectory& directory, std::string_view name, NameStorage storage) {
  if (Answer<Reference<Node>> found = directory.find(name); found.ok()) {
    Directory* next = found.value()->as_directory();
    if (next == nullptr || next->as_memory_directory() == nullptr) {
      return Error::of(ErrorCode::corrupt, "expected a directory at '", name,
                       "' in the initramfs, found something else");
    }
    return Reference<MemoryDirectory>(*next->as_memory_directory());
  }
  Reference<Volume> volume(directory.volume());
  Reference<MemoryDirectory> made = TRY(make_reference<MemoryDirectory>(volume->heap(), volume, 0755u));
  const Answer<void> added = directory.add(name, storage, *made);
  if (!added.ok()) return text_of_errno(added.error(), name);
  return made;
}

// An empty name stands for the root itself.
Result<Place> find_place(MemoryDirectory& root, std::string_view path, NameStorage storage) {
  const std::string_view whole = path;
  Place place{&root, {}};
  while (true) {
    const std::size_t begin = path.find_first_not_of('/');
    if (begin == std::string_view::npos) return place;
    path.remove_prefix(begin);
    const std::size_t end = path.find('/');
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(name.size());
    if (name == ".") continue;
    if (name == ".." || name.size() > most_name_bytes || whole.size() > most_path_bytes) {
      return Error::of(ErrorCode::corrupt, "expected names of 1 to ", most_name_bytes,
                       " bytes below the root of the initramfs, found the path '", whole, "'");
    }
    if (!place.name.empty()) place.directory = TRY(enter(*place.directory, place.name, storage)).get();
    place.name = name;
  }
}

// Names of one file that are still to come, and the file they lead to.
class HardLinks {
 public:
  explicit HardLinks(Allocator& heap) : heap_(heap) {}
  ~HardLinks() {
    while (Group* group = groups_.first()) drop(*group);
  }

  // The file that an earlier name of the same entry made.
  Reference<ImageFile> find(const CpioEntry& entry) {
    for (Group& group : groups_) {
      if (!same(group, entry)) continue;
      Reference<ImageFile> file = group.file;
      // All names have been seen: the next archive may use the number anew.
      if (--group.names_to_come == 0) drop(group);
      return file;
    }
    return {};
  }
  Result<void> add(const CpioEntry& entry, ImageFile& file) {
    void* block = TRY(heap_.allocate(sizeof(Group), alignof(Group)));
    groups_.push_back(*std::construct_at(static_cast<Group*>(block), entry, file));
    return {};
  }

 private:
  struct Group : ListLink<> {
    Group(const CpioEntry& first, ImageFile& leads_to)
        : entry(first), file(leads_to), names_to_come(first.fields[Field::links] - 1) {}
    CpioEntry entry;
    Reference<ImageFile> file;
    std::uint32_t names_to_come;
  };
  static bool same(const Group& group, const CpioEntry& entry) {
    const auto equal = [&](Field field) { return group.entry.fields[field] == entry.fields[field]; };
    return equal(Field::inode) && equal(Field::major) && equal(Field::minor) && equal(Field::links);
  }
  void drop(Group& group) {
    groups_.remove(group);
    std::destroy_at(&group);
    heap_.free(&group, sizeof(Group), alignof(Group));
  }

  Allocator& heap_;
  IntrusiveList<Group> groups_;
};

class Builder {
 public:
  Builder(MemoryDirectory& root, std::span<const std::byte> archives, std::optional<PhysicalAddress> physical)
      : root_(root), archives_(archives), physical_(physical), volume_(root.volume()), hard_links_(volume_->heap()) {}

  Result<void> add(const CpioEntry& entry) {
    const Place place = TRY(find_place(root_, entry.path, NameStorage::borrowed));
    switch (entry.kind()) {
      case CpioEntry::Kind::directory: return add_directory(place, entry);
      case CpioEntry::Kind::file: return add_file(place, entry);
      case CpioEntry::Kind::symbolic_link: return add_link(place, entry);
    }
    ++counts.passed_over;
    return {};
  }

  InitramfsCounts counts;

 private:
  Result<void> add_directory(const Place& place, const CpioEntry& entry) {
    Reference<MemoryDirectory> directory(*place.directory);
    if (!place.name.empty()) directory = TRY(enter(*place.directory, place.name, NameStorage::borrowed));
    directory->describe_as(entry.fields[Field::mode], modified(entry));
    ++counts.directories;
    return {};
  }

  Result<void> add_file(const Place& place, const CpioEntry& entry) {
    const bool several = entry.fields[Field::links] > 1;
    Reference<ImageFile> file = several ? hard_links_.find(entry) : Reference<ImageFile>();
    if (file) {
      ++counts.hard_links;
      if (!entry.content.empty()) file->set_content(content_of(entry));
      return put(place, entry, *file);
    }
    file = TRY(make_reference<ImageFile>(volume_->heap(), volume_, content_of(entry), entry.fields[Field::mode],
                                         modified(entry)));
    if (several) TRY(hard_links_.add(entry, *file));
    ++counts.files;
    return put(place, entry, *file);
  }

  Result<void> add_link(const Place& place, const CpioEntry& entry) {
    const std::string_view target(reinterpret_cast<const char*>(entry.content.data()), entry.content.size());
    Answer<Reference<Node>> link = make_symbolic_link(volume_, target, NameStorage::borrowed);
    if (!link.ok()) return text_of_errno(link.error(), entry.path);
    ++counts.links;
    return put(place, entry, *link.value());
  }

  Result<void> put(const Place& place, const CpioEntry& entry, Node& node) {
    if (place.name.empty()) return text_of_errno(Errno::eisdir, entry.path);
    const Answer<void> added =
        place.directory->add(place.name, NameStorage::borrowed, node, MemoryDirectory::Existing::is_replaced);
    if (!added.ok()) return text_of_errno(added.error(), entry.path);
    return {};
  }

  ImageContent content_of(const CpioEntry& entry) const {
    ImageContent content{entry.content, {}, ImageContent::Tail::other};
    if (physical_ && !entry.content.empty()) {
      content.physical = *physical_ + static_cast<std::uint64_t>(entry.content.data() - archives_.data());
    }
    return content;
  }
  static Nanoseconds modified(const CpioEntry& entry) {
    return Nanoseconds(std::int64_t{1'000'000'000} * entry.fields[Field::modified]);
  }

  MemoryDirectory& root_;
  std::span<const std::byte> archives_;
  std::optional<PhysicalAddress> physical_;
  Reference<Volume> volume_;
  HardLinks hard_links_;
};

}  // namespace

Result<InitramfsCounts> add_initramfs(MemoryDirectory& root, std::span<const std::byte> archives,
                                      std::optional<PhysicalAddress> physical, std::string_view hidden) {
  Builder builder(root, archives, physical);
  CpioReader reader(archives);
  while (const std::optional<CpioEntry> entry = TRY(reader.next())) {
    if (hidden.empty() || entry->path != hidden) TRY(builder.add(*entry));
  }
  return builder.counts;
}

Result<void> add_image_file(MemoryDirectory& root, std::string_view path, NameStorage storage,
                            const ImageContent& content, std::uint32_t permissions) {
  const Place place = TRY(find_place(root, path, storage));
  Reference<Volume> volume(root.volume());
  const Reference<ImageFile> file =
      TRY(make_reference<ImageFile>(volume->heap(), volume, content, permissions, Nanoseconds(0)));
  const Answer<void> added =
      place.name.empty() ? Answer<void>(Errno::eisdir)
                         : place.directory->add(place.name, storage, *file, MemoryDirectory::Existing::is_replaced);
  if (!added.ok()) return text_of_errno(added.error(), path);
  return {};
}

}  // namespace ingot::os
