// What files are: stat and its kin, rights, links, directories.
#include "os/syscall/file_arguments.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

constexpr std::uint32_t block_bytes = 512;  // what st_blocks counts

// struct stat of x86_64.
struct LinuxStatus {
  std::uint64_t device, inode, links;
  std::uint32_t mode, user, group, padding;
  std::uint64_t device_number;
  std::int64_t bytes, preferred_bytes, blocks;
  TimeSpecification accessed, modified, changed;
  std::int64_t unused[3];
};
static_assert(sizeof(LinuxStatus) == 144);

LinuxStatus linux_status(const FileStatus& it) {
  LinuxStatus status{};
  status.device = it.device;
  status.inode = it.inode;
  status.links = it.links;
  status.mode = it.mode();
  status.user = it.user;
  status.group = it.group;
  status.device_number = it.device_number;
  status.bytes = static_cast<std::int64_t>(it.bytes);
  status.preferred_bytes = page_bytes;
  status.blocks = static_cast<std::int64_t>(it.allocated_bytes / block_bytes);
  status.accessed = TimeSpecification::of(it.times.accessed);
  status.modified = TimeSpecification::of(it.times.modified);
  status.changed = TimeSpecification::of(it.times.changed);
  return status;
}

Answer<FileStatus> status_at(Caller& caller, std::int32_t directory, UserText path, std::uint32_t flags) {
  PathArgument text(caller);
  // A null path is an empty one to newer programs.
  const std::string_view name = path.address == VirtualAddress(0) && (flags & at_flag::empty_path) != 0
                                    ? std::string_view()
                                    : TRY(text.read(path));
  if (name.empty() && (flags & at_flag::empty_path) != 0) {
    if (directory == at_working_directory) return files_of(caller).working_directory()->status();
    const Reference<FileDescription> file = TRY(file_of(caller, directory));
    return file->status();
  }
  const LastLink last = (flags & at_flag::no_follow) != 0 ? LastLink::kept : LastLink::followed;
  const Reference<Node> node = TRY(node_at(caller, directory, name, last));
  return node->status();
}

Answer<void> status_of_path_at(Caller& caller, std::int32_t directory, UserText path, UserPointer<LinuxStatus> to,
                               std::uint32_t flags) {
  if ((flags & ~(at_flag::no_follow | at_flag::empty_path | at_flag::no_automount)) != 0) return Errno::einval;
  const FileStatus status = TRY(status_at(caller, directory, path, flags));
  return to.write(linux_status(status));
}
Answer<void> status_of_path(Caller& caller, UserText path, UserPointer<LinuxStatus> to) {
  return status_of_path_at(caller, at_working_directory, path, to, 0);
}
Answer<void> status_of_link(Caller& caller, UserText path, UserPointer<LinuxStatus> to) {
  return status_of_path_at(caller, at_working_directory, path, to, at_flag::no_follow);
}
Answer<void> status_of_file(Caller& caller, std::int32_t descriptor, UserPointer<LinuxStatus> to) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  const FileStatus status = TRY(file->status());
  return to.write(linux_status(status));
}

// struct statx.
struct ExtendedTime {
  std::int64_t seconds;
  std::uint32_t nanosecond_part;
  std::int32_t padding;
};
struct ExtendedStatus {
  std::uint32_t mask, preferred_bytes;
  std::uint64_t attributes;
  std::uint32_t links, user, group;
  std::uint16_t mode, padding;
  std::uint64_t inode, bytes, blocks, attributes_mask;
  ExtendedTime accessed, born, changed, modified;
  std::uint32_t device_number_major, device_number_minor, device_major, device_minor;
  std::uint64_t mount;
  std::uint32_t direct_memory_alignment, direct_offset_alignment;
  std::uint64_t spare[12];
};
static_assert(sizeof(ExtendedStatus) == 256);

Answer<void> extended_status(Caller& caller, std::int32_t directory, UserText path, std::uint32_t flags,
                             std::uint32_t mask, UserPointer<ExtendedStatus> to) {
  constexpr std::uint32_t basic = 0x7ff, reserved = 0x8000'0000, synchronization = 0x6000;
  const std::uint32_t known = at_flag::no_follow | at_flag::empty_path | at_flag::no_automount | synchronization;
  if ((mask & reserved) != 0 || (flags & ~known) != 0) return Errno::einval;
  const FileStatus it = TRY(status_at(caller, directory, path, flags));
  const auto time = [](Nanoseconds value) {
    const TimeSpecification parts = TimeSpecification::of(value);
    return ExtendedTime{parts.seconds, static_cast<std::uint32_t>(parts.nanosecond_part), 0};
  };
  ExtendedStatus status{};
  status.mask = basic;
  status.preferred_bytes = page_bytes;
  status.links = it.links;
  status.user = it.user;
  status.group = it.group;
  status.mode = static_cast<std::uint16_t>(it.mode());
  status.inode = it.inode;
  status.bytes = it.bytes;
  status.blocks = it.allocated_bytes / block_bytes;
  status.accessed = time(it.times.accessed);
  status.changed = time(it.times.changed);
  status.modified = time(it.times.modified);
  status.device_number_major = static_cast<std::uint32_t>(it.device_number >> 8 & 0xfff);
  status.device_number_minor =
      static_cast<std::uint32_t>((it.device_number & 0xff) | (it.device_number >> 12 & ~0xffu));
  status.device_minor = static_cast<std::uint32_t>(it.device);
  return to.write(status);
}

// The program is the superuser: it may read and write what can be, and execute what has any right to be.
Answer<void> access_at(Caller& caller, std::int32_t directory, UserText path, std::uint32_t wanted,
                       std::uint32_t flags) {
  constexpr std::uint32_t execute = 1, write = 2, all = 7, effective = 0x200;
  if ((wanted & ~all) != 0 || (flags & ~(at_flag::no_follow | at_flag::empty_path | effective)) != 0) {
    return Errno::einval;
  }
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const LastLink last = (flags & at_flag::no_follow) != 0 ? LastLink::kept : LastLink::followed;
  const Reference<Node> node = TRY(node_at(caller, directory, name, last));
  if ((wanted & write) != 0 && node->kind() != FileKind::character_device) TRY(node->volume().check_writable());
  if ((wanted & execute) != 0 && node->as_directory() == nullptr && (node->status().permissions & 0111) == 0) {
    return Errno::eacces;
  }
  return {};
}
Answer<void> access_at_without_flags(Caller& caller, std::int32_t directory, UserText path, std::uint32_t wanted) {
  return access_at(caller, directory, path, wanted, 0);
}
Answer<void> access_here(Caller& caller, UserText path, std::uint32_t wanted) {
  return access_at(caller, at_working_directory, path, wanted, 0);
}

Answer<std::uint64_t> read_link_at(Caller& caller, std::int32_t directory, UserText path, VirtualAddress to,
                                   std::uint64_t room) {
  if (room == 0 || room > static_cast<std::uint64_t>(INT64_MAX)) return Errno::einval;
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Node> node = TRY(node_at(caller, directory, name, LastLink::kept));
  Allocator& heap = files_of(caller).heap();
  constexpr std::size_t most = most_path_bytes + 1;
  auto* target = static_cast<char*>(TRY(heap.allocate(most, 1)));
  Answer<std::size_t> letters = node->read_link({target, room < most ? room : most});
  if (letters.ok() && !copy_to_user(to, target, letters.value()).ok()) letters = Errno::efault;
  heap.free(target, most, 1);
  return std::uint64_t{TRY(std::move(letters))};
}
Answer<std::uint64_t> read_link(Caller& caller, UserText path, VirtualAddress to, std::uint64_t room) {
  return read_link_at(caller, at_working_directory, path, to, room);
}

// Writes struct linux_dirent64 one after the other.
class DirectoryWriter final : public DirectorySink {
 public:
  DirectoryWriter(VirtualAddress to, std::uint64_t room) : to_(to), room_(room) {}

  std::uint64_t written() const { return written_; }
  bool too_small() const { return too_small_; }

  Answer<bool> add(const Entry& entry) override {
    constexpr std::uint64_t header = 19;  // inode, position, length, kind
    const std::uint64_t bytes = round_up(header + entry.name.size() + 1, 8);
    if (bytes > room_ - written_) {
      too_small_ = written_ == 0;
      return false;
    }
    char record[header + most_name_bytes + 1 + 7] = {};
    const auto length = static_cast<std::uint16_t>(bytes);
    __builtin_memcpy(record, &entry.inode, 8);
    __builtin_memcpy(record + 8, &entry.next_position, 8);
    __builtin_memcpy(record + 16, &length, 2);
    record[18] = static_cast<char>(static_cast<std::uint32_t>(entry.kind) >> 12);
    __builtin_memcpy(record + header, entry.name.data(), entry.name.size());
    if (!copy_to_user(to_ + written_, record, bytes).ok()) return Errno::efault;
    written_ += bytes;
    return true;
  }

 private:
  VirtualAddress to_;
  std::uint64_t room_;
  std::uint64_t written_ = 0;
  bool too_small_ = false;
};

Answer<std::uint64_t> list_directory(Caller& caller, std::int32_t descriptor, VirtualAddress to, std::uint32_t room) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (!file->readable()) return Errno::ebadf;
  DirectoryWriter writer(to, room);
  const Answer<void> listed = file->entries(writer);
  if (!listed.ok() && writer.written() == 0) return listed.error();
  if (writer.too_small()) return Errno::einval;
  return writer.written();
}

// struct statfs.
struct VolumeStatus {
  std::int64_t kind, block;
  std::uint64_t blocks, free, available, files, free_files;
  std::int32_t identity[2];
  std::int64_t name_bytes, fragment, flags, spare[4];
};
static_assert(sizeof(VolumeStatus) == 120);

VolumeStatus volume_status(const Volume& volume) {
  constexpr std::int64_t tmpfs = 0x0102'1994, read_only = 1;
  const Volume::Limits limits = volume.limits();
  const bool limited = limits.pages != ~std::uint64_t{0};
  VolumeStatus status{};
  status.kind = tmpfs;
  status.block = status.fragment = page_bytes;
  if (limited) {
    status.blocks = limits.pages;
    status.free = status.available = limits.pages - volume.pages_in_use();
    status.files = limits.nodes;
    status.free_files = limits.nodes - volume.nodes_in_use();
  } else {  // an image is as large as it is, and full
    status.blocks = volume.pages_in_use();
    status.files = volume.nodes_made();
  }
  status.name_bytes = most_name_bytes;
  status.flags = volume.check_writable().ok() ? 0 : read_only;
  return status;
}

Answer<void> volume_of_path(Caller& caller, UserText path, UserPointer<VolumeStatus> to) {
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Node> node = TRY(node_at(caller, at_working_directory, name, LastLink::followed));
  return to.write(volume_status(node->volume()));
}
Answer<void> volume_of_file(Caller& caller, std::int32_t descriptor, UserPointer<VolumeStatus> to) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  Node* node = file->node();
  return to.write(volume_status(node != nullptr ? node->volume() : files_of(caller).tree().root().volume()));
}

constexpr SystemCall rows[] = {
    system_call<&status_of_path_at>("newfstatat"),
    system_call<&status_of_path>("stat"),
    system_call<&status_of_link>("lstat"),
    system_call<&status_of_file>("fstat"),
    system_call<&extended_status>("statx"),
    system_call<&access_at>("faccessat2"),
    system_call<&access_at_without_flags>("faccessat"),
    system_call<&access_here>("access"),
    system_call<&read_link_at>("readlinkat"),
    system_call<&read_link>("readlink"),
    system_call<&list_directory>("getdents64"),
    system_call<&volume_of_path>("statfs"),
    system_call<&volume_of_file>("fstatfs"),
};

}  // namespace

std::span<const SystemCall> status_calls() { return rows; }

}  // namespace ingot::os
