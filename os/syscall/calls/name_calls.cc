// Names and what belongs to them: making, removing, renaming, rights, owners and times.
#include "os/syscall/file_arguments.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

Answer<void> make_directory_at(Caller& caller, std::int32_t directory, UserText path, std::uint32_t permissions) {
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Directory> start = TRY(start_of(caller, directory, name));
  ProcessFiles& files = files_of(caller);
  return files.tree().make(*start, name, {FileKind::directory, files.without_mask(permissions), {}});
}
Answer<void> make_directory(Caller& caller, UserText path, std::uint32_t permissions) {
  return make_directory_at(caller, at_working_directory, path, permissions);
}

// An empty file. Devices are the manifest's to grant, and pipes with names are for other processes.
Answer<void> make_node_at(Caller& caller, std::int32_t directory, UserText path, std::uint32_t mode) {
  constexpr std::uint32_t kind_of_mode = 0170000;
  const std::uint32_t kind = mode & kind_of_mode;
  if (kind != 0 && kind != static_cast<std::uint32_t>(FileKind::regular)) return Errno::eperm;
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Directory> start = TRY(start_of(caller, directory, name));
  ProcessFiles& files = files_of(caller);
  return files.tree().make(*start, name, {FileKind::regular, files.without_mask(mode & 07777), {}});
}
Answer<void> make_node(Caller& caller, UserText path, std::uint32_t mode) {
  return make_node_at(caller, at_working_directory, path, mode);
}

Answer<void> make_link_at(Caller& caller, UserText target, std::int32_t directory, UserText path) {
  PathArgument target_text(caller), text(caller);
  const std::string_view leads_to = TRY(target_text.read(target));
  const std::string_view name = TRY(text.read(path));
  const Reference<Directory> start = TRY(start_of(caller, directory, name));
  return files_of(caller).tree().make(*start, name, {FileKind::symbolic_link, 0777, leads_to});
}
Answer<void> make_link(Caller& caller, UserText target, UserText path) {
  return make_link_at(caller, target, at_working_directory, path);
}

Answer<void> add_name_at(Caller& caller, std::int32_t directory, UserText path, std::int32_t new_directory,
                         UserText new_path, std::uint32_t flags) {
  if ((flags & ~(at_flag::follow | at_flag::empty_path)) != 0) return Errno::einval;
  PathArgument text(caller), new_text(caller);
  const std::string_view name = TRY(text.read(path));
  const std::string_view new_name = TRY(new_text.read(new_path));
  const LastLink last = (flags & at_flag::follow) != 0 ? LastLink::followed : LastLink::kept;
  Reference<Node> node;
  if (name.empty() && (flags & at_flag::empty_path) != 0) {
    const Reference<FileDescription> file = TRY(file_of(caller, directory));
    if (file->node() == nullptr) return Errno::exdev;
    node = Reference<Node>(*file->node());
  } else {
    node = TRY(node_at(caller, directory, name, last));
  }
  const Reference<Directory> start = TRY(start_of(caller, new_directory, new_name));
  return files_of(caller).tree().link(*node, *start, new_name);
}
Answer<void> add_name(Caller& caller, UserText path, UserText new_path) {
  return add_name_at(caller, at_working_directory, path, at_working_directory, new_path, 0);
}

Answer<void> remove_at(Caller& caller, std::int32_t directory, UserText path, std::uint32_t flags) {
  if ((flags & ~at_flag::remove_directory) != 0) return Errno::einval;
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Directory> start = TRY(start_of(caller, directory, name));
  const auto removes = flags != 0 ? Directory::Removes::directory : Directory::Removes::file;
  return files_of(caller).tree().remove(*start, name, removes);
}
Answer<void> remove_file(Caller& caller, UserText path) { return remove_at(caller, at_working_directory, path, 0); }
Answer<void> remove_directory(Caller& caller, UserText path) {
  return remove_at(caller, at_working_directory, path, at_flag::remove_directory);
}

Answer<void> rename_at_with(Caller& caller, std::int32_t directory, UserText path, std::int32_t new_directory,
                            UserText new_path, std::uint32_t flags) {
  PathArgument text(caller), new_text(caller);
  const std::string_view name = TRY(text.read(path));
  const std::string_view new_name = TRY(new_text.read(new_path));
  const Reference<Directory> from = TRY(start_of(caller, directory, name));
  const Reference<Directory> to = TRY(start_of(caller, new_directory, new_name));
  return files_of(caller).tree().rename(*from, name, *to, new_name, flags);
}
Answer<void> rename_at(Caller& caller, std::int32_t directory, UserText path, std::int32_t new_directory,
                       UserText new_path) {
  return rename_at_with(caller, directory, path, new_directory, new_path, 0);
}
Answer<void> rename(Caller& caller, UserText path, UserText new_path) {
  return rename_at_with(caller, at_working_directory, path, at_working_directory, new_path, 0);
}

// The node of an open file, for the calls that change what belongs to it.
Answer<Reference<Node>> node_of_file(Caller& caller, std::int32_t descriptor) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (file->node() == nullptr) return Errno::einval;
  return Reference<Node>(*file->node());
}

Answer<void> set_rights_at(Caller& caller, std::int32_t directory, UserText path, std::uint32_t permissions) {
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Node> node = TRY(node_at(caller, directory, name, LastLink::followed));
  return node->set_permissions(permissions);
}
Answer<void> set_rights(Caller& caller, UserText path, std::uint32_t permissions) {
  return set_rights_at(caller, at_working_directory, path, permissions);
}
Answer<void> set_rights_of_file(Caller& caller, std::int32_t descriptor, std::uint32_t permissions) {
  const Reference<Node> node = TRY(node_of_file(caller, descriptor));
  return node->set_permissions(permissions);
}

// ~0 leaves it as it is.
std::optional<std::uint32_t> owner_of(std::uint32_t number) {
  return number == ~0u ? std::nullopt : std::optional(number);
}
Answer<void> set_owner_at(Caller& caller, std::int32_t directory, UserText path, std::uint32_t user,
                          std::uint32_t group, std::uint32_t flags) {
  if ((flags & ~(at_flag::no_follow | at_flag::empty_path)) != 0) return Errno::einval;
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const LastLink last = (flags & at_flag::no_follow) != 0 ? LastLink::kept : LastLink::followed;
  const bool by_descriptor = name.empty() && (flags & at_flag::empty_path) != 0;
  const Reference<Node> node =
      TRY(by_descriptor ? node_of_file(caller, directory) : node_at(caller, directory, name, last));
  return node->set_owner(owner_of(user), owner_of(group));
}
Answer<void> set_owner(Caller& caller, UserText path, std::uint32_t user, std::uint32_t group) {
  return set_owner_at(caller, at_working_directory, path, user, group, 0);
}
Answer<void> set_owner_of_link(Caller& caller, UserText path, std::uint32_t user, std::uint32_t group) {
  return set_owner_at(caller, at_working_directory, path, user, group, at_flag::no_follow);
}
Answer<void> set_owner_of_file(Caller& caller, std::int32_t descriptor, std::uint32_t user, std::uint32_t group) {
  const Reference<Node> node = TRY(node_of_file(caller, descriptor));
  return node->set_owner(owner_of(user), owner_of(group));
}

Answer<std::optional<Nanoseconds>> time_to_set(const TimeSpecification& time, Nanoseconds now) {
  constexpr std::int64_t set_now = (1 << 30) - 1, leave = (1 << 30) - 2;  // UTIME_NOW, UTIME_OMIT
  if (time.nanosecond_part == set_now) return std::optional(now);
  if (time.nanosecond_part == leave) return std::optional<Nanoseconds>();
  return std::optional(TRY(time.nanoseconds()));
}
Answer<void> set_times_at(Caller& caller, std::int32_t directory, UserText path, UserPointer<TimeSpecification> times,
                          std::uint32_t flags) {
  const Nanoseconds now = caller.kernel.wall_time();
  std::optional<Nanoseconds> accessed = now, modified = now;
  if (!times.is_null()) {
    const TimeSpecification first = TRY(times.read()), second = TRY(times.at(1).read());
    accessed = TRY(time_to_set(first, now));
    modified = TRY(time_to_set(second, now));
  }
  if (path.address == VirtualAddress(0)) {  // futimens
    const Reference<Node> node = TRY(node_of_file(caller, directory));
    return node->set_times(accessed, modified);
  }
  PathArgument text(caller);
  const LastLink last = (flags & at_flag::no_follow) != 0 ? LastLink::kept : LastLink::followed;
  const std::string_view name = TRY(text.read(path));
  const Reference<Node> node = TRY(node_at(caller, directory, name, last));
  return node->set_times(accessed, modified);
}

constexpr SystemCall rows[] = {
    system_call<&make_directory>("mkdir"),
    system_call<&make_directory_at>("mkdirat"),
    system_call<&make_node>("mknod"),
    system_call<&make_node_at>("mknodat"),
    system_call<&make_link>("symlink"),
    system_call<&make_link_at>("symlinkat"),
    system_call<&add_name>("link"),
    system_call<&add_name_at>("linkat"),
    system_call<&remove_file>("unlink"),
    system_call<&remove_at>("unlinkat"),
    system_call<&remove_directory>("rmdir"),
    system_call<&rename>("rename"),
    system_call<&rename_at>("renameat"),
    system_call<&rename_at_with>("renameat2"),
    system_call<&set_rights>("chmod"),
    system_call<&set_rights_of_file>("fchmod"),
    system_call<&set_rights_at>("fchmodat"),
    system_call<&set_owner>("chown"),
    system_call<&set_owner_of_link>("lchown"),
    system_call<&set_owner_of_file>("fchown"),
    system_call<&set_owner_at>("fchownat"),
    system_call<&set_times_at>("utimensat"),
};

}  // namespace

std::span<const SystemCall> name_calls() { return rows; }

}  // namespace ingot::os
