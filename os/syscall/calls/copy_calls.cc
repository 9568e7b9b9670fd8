// From one file to another (man 2 sendfile, copy_file_range).
#include "os/syscall/file_arguments.h"
#include "os/syscall/file_wait.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

// By way of a page of the kernel's: content is in memory anyway, so this saves a program only the calls.
class CopyRoom {
 public:
  static constexpr std::size_t bytes = Transfer::piece_bytes;

  explicit CopyRoom(Allocator& heap) : heap_(heap) {}
  CopyRoom(const CopyRoom&) = delete;
  CopyRoom& operator=(const CopyRoom&) = delete;
  ~CopyRoom() {
    if (room_ != nullptr) heap_.free(room_, bytes, page_bytes);
  }
  Answer<std::span<std::byte>> get() {
    if (room_ == nullptr) room_ = static_cast<std::byte*>(TRY(heap_.allocate(bytes, page_bytes)));
    return std::span(room_, bytes);
  }

 private:
  Allocator& heap_;
  std::byte* room_ = nullptr;
};

// Where a side stands: at an offset of the caller's, which it leaves and takes from its memory, or at the file's own.
struct CopySide {
  Reference<FileDescription> file;
  UserPointer<std::int64_t> place;
  std::int64_t offset = 0;
  std::uint64_t most_file_bytes = ~std::uint64_t{0};

  Answer<void> begin() {
    if (place.is_null()) return {};
    offset = TRY(place.read());
    return offset < 0 ? Answer<void>(Errno::einval) : Answer<void>();
  }
  Answer<void> finish() const { return place.write_if_wanted(offset); }
  Answer<std::size_t> read(std::span<std::byte> to) {
    KernelTransfer transfer(to);
    if (place.is_null()) return file->read(transfer);
    const std::size_t moved = TRY(file->read_at(transfer, static_cast<std::uint64_t>(offset)));
    offset += static_cast<std::int64_t>(moved);
    return moved;
  }
  Answer<std::size_t> write(std::span<const std::byte> from) {
    KernelTransfer transfer(from);
    (*transfer).limit_file(most_file_bytes);
    if (place.is_null()) return file->write(transfer);
    const std::size_t moved = TRY(file->write_at(transfer, static_cast<std::uint64_t>(offset)));
    offset += static_cast<std::int64_t>(moved);
    return moved;
  }
  // What was read and could not be written is read again by the next call.
  Answer<void> step_back(std::size_t bytes) {
    if (bytes == 0) return {};
    offset -= static_cast<std::int64_t>(bytes);
    if (place.is_null()) TRY(file->seek(-static_cast<std::int64_t>(bytes), Whence::current));
    return {};
  }
};

Answer<std::uint64_t> copy_bytes(Caller& caller, CopySide& from, CopySide& to, std::uint64_t wanted) {
  if (!from.file->readable() || !to.file->writable()) return Errno::ebadf;
  // Only a file whose position can be set back: what does not fit on the other side must not be lost.
  if (!from.file->seek(0, Whence::current).ok()) return Errno::einval;
  TRY(from.begin());
  TRY(to.begin());
  to.most_file_bytes = caller.process.most_file_bytes();
  CopyRoom room(files_of(caller).heap());
  const std::span<std::byte> bytes = TRY(room.get());
  wanted = wanted < UserPieces::most_bytes ? wanted : UserPieces::most_bytes;
  const Patience patience = patience_for(caller, *to.file, SocketFile::Direction::sending);
  std::uint64_t done = 0;
  while (done < wanted) {
    const std::size_t part = wanted - done < bytes.size() ? wanted - done : bytes.size();
    const Answer<std::size_t> got = from.read(bytes.first(part));
    if (!got.ok() && done == 0) return got.error();
    if (!got.ok() || got.value() == 0) break;
    const Answer<std::size_t> put =
        when_ready(caller.thread, *to.file, [&] { return to.write(bytes.first(got.value())); }, patience);
    const std::size_t moved = put.ok() ? put.value() : 0;
    TRY(from.step_back(got.value() - moved));
    done += moved;
    if (!put.ok() && put.error() == Errno::efbig) tell_of_long_file(caller);
    if (!put.ok() && put.error() == Errno::epipe) tell_of_broken_pipe(caller, *to.file);
    if (!put.ok() && done == 0) return put.error();
    if (moved == 0 || !caller.thread.may_go_on(EndsFor::signals)) break;
  }
  TRY(from.finish());
  TRY(to.finish());
  return done;
}

Answer<std::uint64_t> send_file(Caller& caller, std::int32_t to_descriptor, std::int32_t from_descriptor,
                                UserPointer<std::int64_t> offset, std::uint64_t bytes) {
  CopySide from{TRY(file_of(caller, from_descriptor)), offset}, to{TRY(file_of(caller, to_descriptor)), {}};
  return copy_bytes(caller, from, to, bytes);
}
Answer<std::uint64_t> copy_range(Caller& caller, std::int32_t from_descriptor, UserPointer<std::int64_t> from_offset,
                                 std::int32_t to_descriptor, UserPointer<std::int64_t> to_offset, std::uint64_t bytes,
                                 std::uint32_t flags) {
  if (flags != 0) return Errno::einval;
  CopySide from{TRY(file_of(caller, from_descriptor)), from_offset};
  CopySide to{TRY(file_of(caller, to_descriptor)), to_offset};
  for (const CopySide* side : {&from, &to}) {
    if (TRY(side->file->status()).kind != FileKind::regular) return Errno::einval;
  }
  return copy_bytes(caller, from, to, bytes);
}

constexpr SystemCall rows[] = {
    system_call<&send_file>("sendfile"),
    system_call<&copy_range>("copy_file_range"),
};

}  // namespace

std::span<const SystemCall> copy_calls() { return rows; }

}  // namespace ingot::os
