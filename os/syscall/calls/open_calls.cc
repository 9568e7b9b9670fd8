// Opening and closing: descriptors, and where the process stands.
#include "os/syscall/file_arguments.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

OnExecute on_execute_of(std::uint32_t flags) {
  return (flags & open_flag::close_on_execute) != 0 ? OnExecute::closes : OnExecute::keeps;
}

Answer<std::int32_t> open_at(Caller& caller, std::int32_t directory, UserText path, std::uint32_t flags,
                             std::uint32_t permissions) {
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  ProcessFiles& files = files_of(caller);
  const Reference<Directory> start = TRY(start_of(caller, directory, name));
  Reference<FileDescription> file = TRY(files.tree().open(*start, name, flags, files.without_mask(permissions)));
  return files.descriptors().add(std::move(file), on_execute_of(flags));
}
Answer<std::int32_t> open_here(Caller& caller, UserText path, std::uint32_t flags, std::uint32_t permissions) {
  return open_at(caller, at_working_directory, path, flags, permissions);
}
Answer<std::int32_t> create(Caller& caller, UserText path, std::uint32_t permissions) {
  return open_here(caller, path, open_flag::create | open_flag::write_only | open_flag::truncate, permissions);
}

// SO_LINGER: who closes a socket for good waits for what was sent, however its other calls wait, and a signal ends
// that; as on Linux. Where another thread is still at it, nobody does.
void linger(Caller& caller, FileDescription& file) {
  SocketFile* const socket = file.as_socket();
  if (socket == nullptr || !socket->settings().is_on(socket_option::linger) || file.references() != 1) return;
  file.change_flags(open_flag::non_blocking, 0);
  const TimeSpecification time{socket->settings().linger_seconds.load(MemoryOrder::relaxed), 0};
  const Patience patience{.until = later(caller.kernel.now(), time.nanoseconds().value())};
  static_cast<void>(when_ready(caller.thread, file, [&] { return socket->let_go(); }, patience));
}

Answer<void> close(Caller& caller, std::int32_t descriptor) {
  const Reference<FileDescription> file = TRY(files_of(caller).descriptors().close(descriptor));
  linger(caller, *file);
  return {};
}

Answer<void> close_range(Caller& caller, std::uint32_t first, std::uint32_t last, std::uint32_t flags) {
  constexpr std::uint32_t own_table = 2, close_on_execute = 4;  // CLOSE_RANGE_UNSHARE, CLOSE_RANGE_CLOEXEC
  if (first > last || (flags & ~(own_table | close_on_execute)) != 0) return Errno::einval;
  DescriptorTable& table = files_of(caller).descriptors();
  if ((flags & close_on_execute) != 0) {
    table.mark_range(first, last);
  } else {
    table.close_range(first, last);
  }
  return {};
}

Answer<std::int32_t> duplicate(Caller& caller, std::int32_t descriptor) {
  Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  return files_of(caller).descriptors().add(std::move(file), OnExecute::keeps);
}
Answer<std::int32_t> duplicate_to(Caller& caller, std::int32_t descriptor, std::int32_t to) {
  Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (descriptor == to) return to;
  return files_of(caller).descriptors().put(to, std::move(file), OnExecute::keeps);
}
Answer<std::int32_t> duplicate_to_with(Caller& caller, std::int32_t descriptor, std::int32_t to, std::uint32_t flags) {
  if (descriptor == to || (flags & ~open_flag::close_on_execute) != 0) return Errno::einval;
  Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  return files_of(caller).descriptors().put(to, std::move(file), on_execute_of(flags));
}

enum class FileControl : std::uint32_t {
  duplicate = 0,                // F_DUPFD
  get_descriptor_flags = 1,     // F_GETFD
  set_descriptor_flags = 2,     // F_SETFD
  get_flags = 3,                // F_GETFL
  set_flags = 4,                // F_SETFL
  get_lock = 5,                 // F_GETLK
  set_lock = 6,                 // F_SETLK
  set_lock_and_wait = 7,        // F_SETLKW
  get_open_lock = 36,           // F_OFD_GETLK
  set_open_lock = 37,           // F_OFD_SETLK
  set_open_lock_and_wait = 38,  // F_OFD_SETLKW
  duplicate_closing = 1030,     // F_DUPFD_CLOEXEC
  get_pipe_bytes = 1032,        // F_GETPIPE_SZ
};
// struct flock.
struct FileLock {
  std::int16_t kind, whence;
  std::int64_t begin, bytes;
  std::int32_t owner;
};
constexpr std::int16_t unlocked = 2;  // F_UNLCK

Answer<std::int64_t> control(Caller& caller, std::int32_t descriptor, FileControl request, std::uint64_t argument) {
  DescriptorTable& table = files_of(caller).descriptors();
  const Reference<FileDescription> file = TRY(table.find(descriptor));
  const auto number = static_cast<std::int32_t>(argument);
  switch (request) {
    case FileControl::duplicate: return std::int64_t{TRY(table.add(file, OnExecute::keeps, number))};
    case FileControl::duplicate_closing: return std::int64_t{TRY(table.add(file, OnExecute::closes, number))};
    case FileControl::get_descriptor_flags:
      return std::int64_t{TRY(table.on_execute(descriptor)) == OnExecute::closes ? 1 : 0};
    case FileControl::set_descriptor_flags:
      TRY(table.set_on_execute(descriptor, (argument & 1) != 0 ? OnExecute::closes : OnExecute::keeps));
      return std::int64_t{0};
    case FileControl::get_flags: return std::int64_t{file->flags()};
    case FileControl::set_flags:
      file->change_flags(open_flag::changeable, static_cast<std::uint32_t>(argument));
      return std::int64_t{0};
    // There is one process, and its locks never stand in its own way.
    case FileControl::get_lock:
    case FileControl::get_open_lock: {
      const UserPointer<FileLock> place{VirtualAddress(argument)};
      FileLock lock = TRY(place.read());
      lock.kind = unlocked;
      TRY(place.write(lock));
      return std::int64_t{0};
    }
    case FileControl::set_lock:
    case FileControl::set_lock_and_wait:
    case FileControl::set_open_lock:
    case FileControl::set_open_lock_and_wait: return std::int64_t{0};
    case FileControl::get_pipe_bytes:
      if (TRY(file->status()).kind != FileKind::pipe) return Errno::ebadf;
      return std::int64_t{64 * 1024};
  }
  return Errno::einval;
}

// As above.
Answer<void> lock_file(Caller& caller, std::int32_t descriptor, std::uint32_t) {
  TRY(file_of(caller, descriptor));
  return {};
}

Answer<void> change_directory(Caller& caller, UserText path) {
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Node> node = TRY(node_at(caller, at_working_directory, name, LastLink::followed));
  if (node->as_directory() == nullptr) return Errno::enotdir;
  files_of(caller).set_working_directory(Reference<Directory>(*node->as_directory()));
  return {};
}
Answer<void> change_directory_to(Caller& caller, std::int32_t descriptor) {
  Reference<Directory> directory = TRY(start_of(caller, descriptor, {}));
  files_of(caller).set_working_directory(std::move(directory));
  return {};
}

// As on Linux, the working directory stays where it is, outside perhaps.
Answer<void> change_root(Caller& caller, UserText path) {
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Node> node = TRY(node_at(caller, at_working_directory, name, LastLink::followed));
  return files_of(caller).tree().set_root(*node);
}

// Answers the bytes with the 0 that ends them.
Answer<std::uint64_t> get_directory(Caller& caller, VirtualAddress to, std::uint64_t room) {
  ProcessFiles& files = files_of(caller);
  constexpr std::size_t most = most_path_bytes + 1;
  auto* text = static_cast<char*>(TRY(files.heap().allocate(most, 1)));
  const Reference<Directory> here = files.working_directory();
  const Answer<std::string_view> path = files.tree().path_of(*here, {text, most - 1});
  text[most - 1] = '\0';
  std::uint64_t bytes = 0;  // stays 0 where the error counts
  Errno error = path.ok() ? Errno::erange : path.error();
  if (error == Errno::exdev) error = Errno::enoent;  // it has no path for this program
  if (path.ok() && path.value().size() < room) {
    bytes = path.value().size() + 1;
    if (!copy_to_user(to, path.value().data(), bytes).ok()) {
      bytes = 0;
      error = Errno::efault;
    }
  }
  files.heap().free(text, most, 1);
  if (bytes == 0) return error;
  return bytes;
}

Answer<std::uint32_t> set_mask(Caller& caller, std::uint32_t mask) { return files_of(caller).exchange_mask(mask); }

constexpr SystemCall rows[] = {
    system_call<&open_at>("openat"),
    system_call<&open_here>("open"),
    system_call<&create>("creat"),
    system_call<&close>("close"),
    system_call<&close_range>("close_range"),
    system_call<&duplicate>("dup"),
    system_call<&duplicate_to>("dup2"),
    system_call<&duplicate_to_with>("dup3"),
    system_call<&control>("fcntl"),
    system_call<&lock_file>("flock"),
    system_call<&change_directory>("chdir"),
    system_call<&change_directory_to>("fchdir"),
    system_call<&change_root>("chroot"),
    system_call<&get_directory>("getcwd"),
    system_call<&set_mask>("umask"),
};

}  // namespace

std::span<const SystemCall> open_calls() { return rows; }

}  // namespace ingot::os
