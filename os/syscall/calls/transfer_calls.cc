// Moving bytes: read, write and their kin.
#include "os/file/control_requests.h"
#include "os/file/sparse_pages.h"
#include "os/syscall/file_arguments.h"
#include "os/syscall/file_wait.h"
#include "os/syscall/program_control.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

constexpr std::int64_t at_position = -1;  // instead of an offset: where the last call stopped

Answer<std::uint64_t> read_pieces(Caller& caller, std::int32_t descriptor, const UserPieces& pieces,
                                  std::int64_t offset) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  UserTransferMemory memory(caller.thread, file.get());
  const auto attempt = [&]() -> Answer<std::uint64_t> {
    Transfer to = pieces.transfer(memory, 0);
    return std::uint64_t{TRY(offset < 0 ? file->read(to) : file->read_at(to, static_cast<std::uint64_t>(offset)))};
  };
  return when_ready(caller.thread, *file, attempt, patience_for(caller, *file, SocketFile::Direction::receiving));
}

// A write that may wait does not stop halfway: it waits for room and goes on.
Answer<std::uint64_t> write_pieces(Caller& caller, std::int32_t descriptor, const UserPieces& pieces,
                                   std::int64_t offset) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  UserTransferMemory memory(caller.thread, file.get());
  const Patience patience = patience_for(caller, *file, SocketFile::Direction::sending);
  std::uint64_t done = 0;
  while (true) {
    std::uint64_t left = 0;
    const auto attempt = [&]() -> Answer<std::uint64_t> {
      Transfer from = pieces.transfer(memory, done);
      from.limit_file(caller.process.most_file_bytes());
      const auto position = static_cast<std::uint64_t>(offset) + done;
      const std::size_t written = TRY(offset < 0 ? file->write(from) : file->write_at(from, position));
      left = from.left();
      return std::uint64_t{written};
    };
    const Answer<std::uint64_t> moved = when_ready(caller.thread, *file, attempt, patience);
    if (!moved.ok() && moved.error() == Errno::epipe) tell_of_broken_pipe(caller, *file);
    if (!moved.ok() && moved.error() == Errno::efbig) tell_of_long_file(caller);
    if (!moved.ok() && done == 0) return moved.error();
    if (!moved.ok()) return done;
    done += moved.value();
    // What has no source never has more room later.
    if (left == 0 || moved.value() == 0 || file->poll_source() == nullptr || file->non_blocking()) return done;
  }
}

Answer<std::uint64_t> read(Caller& caller, std::int32_t descriptor, UserPointer<void> to, std::uint64_t bytes) {
  UserPieces pieces(files_of(caller).heap());
  pieces.set(to.address, bytes);
  return read_pieces(caller, descriptor, pieces, at_position);
}
Answer<std::uint64_t> write(Caller& caller, std::int32_t descriptor, UserPointer<void> from, std::uint64_t bytes) {
  UserPieces pieces(files_of(caller).heap());
  pieces.set(from.address, bytes);
  return write_pieces(caller, descriptor, pieces, at_position);
}
Answer<std::uint64_t> read_at(Caller& caller, std::int32_t descriptor, UserPointer<void> to, std::uint64_t bytes,
                              std::int64_t offset) {
  if (offset < 0) return Errno::einval;
  UserPieces pieces(files_of(caller).heap());
  pieces.set(to.address, bytes);
  return read_pieces(caller, descriptor, pieces, offset);
}
Answer<std::uint64_t> write_at(Caller& caller, std::int32_t descriptor, UserPointer<void> from, std::uint64_t bytes,
                               std::int64_t offset) {
  if (offset < 0) return Errno::einval;
  UserPieces pieces(files_of(caller).heap());
  pieces.set(from.address, bytes);
  return write_pieces(caller, descriptor, pieces, offset);
}
Answer<std::uint64_t> read_list(Caller& caller, std::int32_t descriptor, UserPointer<TransferPiece> list,
                                std::uint64_t count) {
  UserPieces pieces(files_of(caller).heap());
  TRY(pieces.read(list, count));
  return read_pieces(caller, descriptor, pieces, at_position);
}
Answer<std::uint64_t> write_list(Caller& caller, std::int32_t descriptor, UserPointer<TransferPiece> list,
                                 std::uint64_t count) {
  UserPieces pieces(files_of(caller).heap());
  TRY(pieces.read(list, count));
  return write_pieces(caller, descriptor, pieces, at_position);
}
Answer<std::uint64_t> read_list_at(Caller& caller, std::int32_t descriptor, UserPointer<TransferPiece> list,
                                   std::uint64_t count, std::int64_t offset) {
  if (offset < 0) return Errno::einval;
  UserPieces pieces(files_of(caller).heap());
  TRY(pieces.read(list, count));
  return read_pieces(caller, descriptor, pieces, offset);
}
Answer<std::uint64_t> write_list_at(Caller& caller, std::int32_t descriptor, UserPointer<TransferPiece> list,
                                    std::uint64_t count, std::int64_t offset) {
  if (offset < 0) return Errno::einval;
  UserPieces pieces(files_of(caller).heap());
  TRY(pieces.read(list, count));
  return write_pieces(caller, descriptor, pieces, offset);
}

// As above, at an offset or, by -1, at the file's position. Each flag would be a promise about that one transfer.
Answer<std::uint64_t> read_list_with(Caller& caller, std::int32_t descriptor, UserPointer<TransferPiece> list,
                                     std::uint64_t count, std::int64_t offset, std::uint64_t, std::uint32_t flags) {
  if (flags != 0) return Errno::eopnotsupp;
  if (offset == at_position) return read_list(caller, descriptor, list, count);
  return read_list_at(caller, descriptor, list, count, offset);
}
Answer<std::uint64_t> write_list_with(Caller& caller, std::int32_t descriptor, UserPointer<TransferPiece> list,
                                      std::uint64_t count, std::int64_t offset, std::uint64_t, std::uint32_t flags) {
  if (flags != 0) return Errno::eopnotsupp;
  if (offset == at_position) return write_list(caller, descriptor, list, count);
  return write_list_at(caller, descriptor, list, count, offset);
}

Answer<std::uint64_t> seek(Caller& caller, std::int32_t descriptor, std::int64_t offset, Whence whence) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if ((file->flags() & open_flag::path) != 0) return Errno::ebadf;
  return file->seek(offset, whence);
}

Answer<std::int64_t> control(Caller& caller, std::int32_t descriptor, std::uint32_t request, std::uint64_t argument) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if ((file->flags() & open_flag::path) != 0) return Errno::ebadf;
  ProgramControl program(caller);
  switch (request) {
    case control_request::non_blocking:
      file->change_flags(open_flag::non_blocking,
                         TRY(program.memory().read<std::int32_t>(argument)) != 0 ? open_flag::non_blocking : 0);
      return std::int64_t{0};
    case control_request::close_on_execute:
    case control_request::keep_on_execute:
      TRY(files_of(caller).descriptors().set_on_execute(
          descriptor, request == control_request::close_on_execute ? OnExecute::closes : OnExecute::keeps));
      return std::int64_t{0};
    default: return file->control(request, argument, program);
  }
}

Answer<void> truncate_file(Caller& caller, std::int32_t descriptor, std::int64_t bytes) {
  if (bytes < 0) return Errno::einval;
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (!file->writable()) return Errno::einval;
  TRY(check_file_limit(caller, static_cast<std::uint64_t>(bytes)));
  return file->truncate(static_cast<std::uint64_t>(bytes));
}
Answer<void> truncate_path(Caller& caller, UserText path, std::int64_t bytes) {
  if (bytes < 0) return Errno::einval;
  PathArgument text(caller);
  const std::string_view name = TRY(text.read(path));
  const Reference<Node> node = TRY(node_at(caller, at_working_directory, name, LastLink::followed));
  if (node->as_directory() != nullptr) return Errno::eisdir;
  TRY(check_file_limit(caller, static_cast<std::uint64_t>(bytes)));
  return node->truncate(static_cast<std::uint64_t>(bytes));
}
// A range in parts, between which others have their turns.
Answer<void> reserve_in_parts(Caller& caller, FileDescription& file, std::uint64_t begin, std::uint64_t end,
                              FileDescription::Reserved size) {
  constexpr std::uint64_t part_bytes = std::uint64_t{1} << 20;
  const auto reserve_all = [&]() -> Answer<void> {
    // More than any file can hold is refused as a whole.
    for (; end <= SparsePages::most_bytes && end - begin > part_bytes; begin += part_bytes) {
      TRY(file.reserve(begin, part_bytes, FileDescription::Reserved::part));
      if (!caller.thread.may_go_on(EndsFor::the_end)) return Errno::eintr;
    }
    return file.reserve(begin, end - begin, size);
  };
  file.begin_reserving();
  const Answer<void> reserved = reserve_all();
  // What is not kept goes back in parts as well, even where the caller must end.
  while (!file.end_reserving(part_bytes)) static_cast<void>(caller.thread.may_go_on(EndsFor::the_end));
  return reserved;
}

Answer<void> reserve(Caller& caller, std::int32_t descriptor, std::uint32_t mode, std::int64_t offset,
                     std::int64_t bytes) {
  constexpr std::uint32_t keeps_size = 1;  // FALLOC_FL_KEEP_SIZE
  using Reserved = FileDescription::Reserved;
  if (offset < 0 || bytes <= 0) return Errno::einval;
  if ((mode & ~keeps_size) != 0) return Errno::eopnotsupp;
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (!file->writable()) return Errno::ebadf;
  const auto begin = static_cast<std::uint64_t>(offset);
  const std::uint64_t end = begin + static_cast<std::uint64_t>(bytes);
  TRY(check_file_limit(caller, end));
  const bool grows = (mode & keeps_size) == 0;
  return reserve_in_parts(caller, *file, begin, end, grows ? Reserved::grows : Reserved::keeps_size);
}

Answer<void> synchronize(Caller& caller, std::int32_t descriptor) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if ((file->flags() & open_flag::path) != 0) return Errno::ebadf;
  return file->synchronize();
}
// Nothing is kept back anywhere.
Answer<void> synchronize_all(Caller&) { return {}; }
Answer<void> advise(Caller& caller, std::int32_t descriptor, std::int64_t, std::int64_t, std::uint32_t advice) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (TRY(file->status()).kind == FileKind::pipe) return Errno::espipe;
  return advice <= 5 ? Answer<void>() : Errno::einval;
}

constexpr SystemCall rows[] = {
    system_call<&read>("read"),
    system_call<&write>("write"),
    system_call<&read_at>("pread64"),
    system_call<&write_at>("pwrite64"),
    system_call<&read_list>("readv"),
    system_call<&write_list>("writev"),
    system_call<&read_list_at>("preadv"),
    system_call<&write_list_at>("pwritev"),
    system_call<&read_list_with>("preadv2"),
    system_call<&write_list_with>("pwritev2"),
    system_call<&seek>("lseek"),
    system_call<&control>("ioctl"),
    system_call<&truncate_file>("ftruncate"),
    system_call<&truncate_path>("truncate"),
    system_call<&reserve>("fallocate"),
    system_call<&synchronize>("fsync"),
    system_call<&synchronize>("fdatasync"),
    system_call<&synchronize_all>("sync"),
    system_call<&advise>("fadvise64"),
};

}  // namespace

std::span<const SystemCall> transfer_calls() { return rows; }

}  // namespace ingot::os
