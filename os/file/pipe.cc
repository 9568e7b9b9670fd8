#include "os/file/pipe.h"

#include <algorithm>

#include "os/file/control_requests.h"

namespace ingot::os {
namespace {

class Pipe final : public Shared {
 public:
  Pipe(std::byte* buffer, Allocator& heap, Nanoseconds now) : made(now), buffer_(buffer), heap_(heap) {}
  ~Pipe() { heap_.free(buffer_, pipe_bytes, page_bytes); }

  Answer<std::size_t> read(Transfer& to) {
    Answer<std::size_t> moved = read_locked(to);
    if (moved.ok() && moved.value() != 0) source.notify(poll_event::writable);
    return moved;
  }
  Answer<std::size_t> write(Transfer& from) {
    Answer<std::size_t> moved = write_locked(from);
    if (moved.ok() && moved.value() != 0) source.notify(poll_event::readable);
    return moved;
  }
  std::uint32_t events_of_reader() {
    const MutexGuard guard(lock_);
    return (used_ != 0 ? poll_event::readable : 0) | (writers_ == 0 ? poll_event::hang_up : 0);
  }
  std::uint32_t events_of_writer() {
    const MutexGuard guard(lock_);
    return (pipe_bytes - used_ >= pipe_atomic_bytes ? poll_event::writable : 0) |
           (readers_ == 0 ? poll_event::error : 0);
  }
  std::size_t waiting() {
    const MutexGuard guard(lock_);
    return used_;
  }
  void drop_reader() {
    drop(readers_);
    source.notify(poll_event::error);
  }
  void drop_writer() {
    drop(writers_);
    source.notify(poll_event::hang_up);
  }

  PollSource source;
  const Nanoseconds made;

 private:
  void drop(unsigned& ends) {
    const MutexGuard guard(lock_);
    --ends;
  }
  // A ring: what is used, or what is free, is at most two ranges.
  std::span<std::byte> range(std::size_t begin, std::size_t bytes) {
    begin %= pipe_bytes;
    return {buffer_ + begin, std::min(bytes, pipe_bytes - begin)};
  }

  Answer<std::size_t> read_locked(Transfer& to) {
    const MutexGuard guard(lock_);
    if (to.left() == 0) return std::size_t{0};
    if (used_ == 0 && writers_ != 0) return Errno::eagain;
    std::size_t done = 0;
    while (used_ != 0 && to.left() != 0) {
      const Answer<std::size_t> moved = to.give(range(first_, used_));
      if (!moved.ok() && done == 0) return moved.error();
      if (!moved.ok()) break;
      first_ = (first_ + moved.value()) % pipe_bytes;
      used_ -= moved.value();
      done += moved.value();
    }
    return done;
  }
  Answer<std::size_t> write_locked(Transfer& from) {
    const MutexGuard guard(lock_);
    if (readers_ == 0) return Errno::epipe;
    if (from.left() == 0) return std::size_t{0};
    const std::size_t free = pipe_bytes - used_;
    if (free == 0 || (from.left() <= pipe_atomic_bytes && from.left() > free)) return Errno::eagain;
    std::size_t done = 0;
    while (used_ != pipe_bytes && from.left() != 0) {
      const Answer<std::size_t> moved = from.take(range(first_ + used_, pipe_bytes - used_));
      if (!moved.ok() && done == 0) return moved.error();
      if (!moved.ok()) break;
      used_ += moved.value();
      done += moved.value();
    }
    return done;
  }

  Mutex lock_{LockRank::file_data};
  std::byte* buffer_;
  Allocator& heap_;
  std::size_t first_ = 0, used_ = 0;
  unsigned readers_ = 1, writers_ = 1;
};

class PipeEnd : public FileDescription {
 public:
  Answer<FileStatus> status() override {
    FileStatus status;
    status.kind = FileKind::pipe;
    status.permissions = 0600;
    status.inode = static_cast<std::uint64_t>(pipe_->made.count());  // the same at both ends
    status.times = {pipe_->made, pipe_->made, pipe_->made};
    return status;
  }
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, TransferMemory& memory) override {
    if (request != control_request::bytes_waiting) return Errno::enotty;
    TRY(memory.write(argument, static_cast<std::int32_t>(pipe_->waiting())));
    return std::int64_t{0};
  }
  PollSource* poll_source() override { return &pipe_->source; }
  std::string_view anonymous_name() const override { return "pipe:[1]"; }

 protected:
  PipeEnd(Reference<Pipe> pipe, std::uint32_t flags) : FileDescription(flags), pipe_(std::move(pipe)) {}
  ~PipeEnd() = default;

  Reference<Pipe> pipe_;
};

class ReadingEnd final : public PipeEnd {
 public:
  ReadingEnd(Reference<Pipe> pipe, std::uint32_t flags) : PipeEnd(std::move(pipe), flags | open_flag::read_only) {}
  ~ReadingEnd() { pipe_->drop_reader(); }
  std::uint32_t poll() override { return pipe_->events_of_reader(); }

 private:
  Answer<std::size_t> read_bytes(Transfer& to) override { return pipe_->read(to); }
};

class WritingEnd final : public PipeEnd {
 public:
  WritingEnd(Reference<Pipe> pipe, std::uint32_t flags) : PipeEnd(std::move(pipe), flags | open_flag::write_only) {}
  ~WritingEnd() { pipe_->drop_writer(); }
  std::uint32_t poll() override { return pipe_->events_of_writer(); }

 private:
  Answer<std::size_t> write_bytes(Transfer& from) override { return pipe_->write(from); }
};

}  // namespace

Answer<PipeEnds> make_pipe(const FileServices& services, std::uint32_t flags) {
  Allocator& heap = *services.heap;
  auto* buffer = static_cast<std::byte*>(TRY(heap.allocate(pipe_bytes, page_bytes)));
  Result<Reference<Pipe>> pipe = make_reference<Pipe>(heap, buffer, heap, services.time->realtime());
  if (!pipe.ok()) {
    heap.free(buffer, pipe_bytes, page_bytes);
    return pipe.error();
  }
  // If the second end cannot be made, the first goes, and the pipe with it.
  PipeEnds ends;
  ends.reading = TRY(make_reference<ReadingEnd>(heap, pipe.value(), flags));
  ends.writing = TRY(make_reference<WritingEnd>(heap, pipe.value(), flags));
  return ends;
}

}  // namespace ingot::os
