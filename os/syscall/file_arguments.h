// What the calls about files share: the caller's files, paths, and where paths start.
#pragma once

#include <string_view>

#include "os/boot/kernel.h"
#include "os/file/process_files.h"
#include "os/file/socket/socket_file.h"
#include "os/process/process.h"
#include "os/syscall/file_wait.h"
#include "os/syscall/system_call.h"
#include "os/syscall/time_values.h"
#include "os/syscall/user_transfer.h"

namespace ingot::os {

inline ProcessFiles& files_of(Caller& caller) { return caller.process.files(); }
inline Answer<Reference<FileDescription>> file_of(Caller& caller, std::int32_t descriptor) {
  return files_of(caller).descriptors().find(descriptor);
}

inline void tell_of(Caller& caller, Signal signal) {
  const auto information = SignalInformation::of(signal, signal_code::by_kill, caller.process.number());
  static_cast<void>(caller.process.send(information, caller.thread.number()));
}
// Most programs that nobody reads any more do not look at their errors: the signal ends them. As on Linux, sockets for
// messages do not send it.
inline void tell_of_broken_pipe(Caller& caller, FileDescription& file) {
  if (file.as_socket() != nullptr && file.as_socket()->kind() != SocketKind::stream) return;
  tell_of(caller, Signal::broken_pipe);
}
// A socket may limit how long its calls wait.
inline Patience patience_for(Caller& caller, FileDescription& file, SocketFile::Direction direction) {
  SocketFile* const socket = file.as_socket();
  if (socket == nullptr) return {};
  const bool sends = direction == SocketFile::Direction::sending;
  SocketSettings& settings = socket->settings();
  const Nanoseconds time = (sends ? settings.send_time : settings.receive_time).load(MemoryOrder::relaxed);
  Patience patience;
  if (time != Nanoseconds(0)) patience.until = later(caller.kernel.now(), time);
  if (sends) patience.also = socket->room_source();
  return patience;
}
// A file became longer than the program may have one; not one that no volume could hold.
inline void tell_of_long_file(Caller& caller) {
  if (caller.process.most_file_bytes() != ResourceLimit::unlimited) tell_of(caller, Signal::file_limit);
}
inline Answer<void> check_file_limit(Caller& caller, std::uint64_t bytes) {
  if (bytes <= caller.process.most_file_bytes()) return {};
  tell_of_long_file(caller);
  return Errno::efbig;
}

// Instead of a directory's descriptor: where the process stands.
inline constexpr std::int32_t at_working_directory = -100;  // AT_FDCWD

namespace at_flag {
inline constexpr std::uint32_t no_follow = 0x100, remove_directory = 0x200;  // AT_SYMLINK_NOFOLLOW, AT_REMOVEDIR
inline constexpr std::uint32_t follow = 0x400, no_automount = 0x800;         // AT_SYMLINK_FOLLOW, AT_NO_AUTOMOUNT
inline constexpr std::uint32_t empty_path = 0x1000;                          // AT_EMPTY_PATH
}  // namespace at_flag

// A path of the program's, copied: what it does with its memory meanwhile changes nothing.
class PathArgument {
 public:
  explicit PathArgument(Caller& caller) : heap_(files_of(caller).heap()) {}
  PathArgument(const PathArgument&) = delete;
  PathArgument& operator=(const PathArgument&) = delete;
  ~PathArgument() {
    if (text_ != nullptr) heap_.free(text_, room, 1);
  }

  Answer<std::string_view> read(UserText text) {
    if (text_ == nullptr) text_ = static_cast<char*>(TRY(heap_.allocate(room, 1)));
    return std::string_view(text_, TRY(text.read({text_, room})));
  }

 private:
  static constexpr std::size_t room = most_path_bytes + 1;

  Allocator& heap_;
  char* text_ = nullptr;
};

// Where a path starts. It does not matter for one that begins with a slash.
inline Answer<Reference<Directory>> start_of(Caller& caller, std::int32_t descriptor, std::string_view path) {
  if (descriptor == at_working_directory || path.starts_with('/')) return files_of(caller).working_directory();
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  Node* node = file->node();
  if (node == nullptr || node->as_directory() == nullptr) return Errno::enotdir;
  return Reference<Directory>(*node->as_directory());
}

// The node that a path, or with at_flag::empty_path a descriptor alone, names.
inline Answer<Reference<Node>> node_at(Caller& caller, std::int32_t descriptor, std::string_view path, LastLink last) {
  const Reference<Directory> start = TRY(start_of(caller, descriptor, path));
  return files_of(caller).tree().find(*start, path, last);
}

}  // namespace ingot::os
