#include "os/file/channels/pipe.h"

#include "os/file/channels/byte_queue.h"
#include "os/file/control_caller.h"
#include "os/file/control_requests.h"

namespace ingot::os {
namespace {

class PipeEnd : public FileDescription {
 public:
  Answer<FileStatus> status() override {
    FileStatus status;
    status.kind = FileKind::pipe;
    status.permissions = 0600;
    status.inode = static_cast<std::uint64_t>(made_.count());  // the same at both ends
    status.times = {made_, made_, made_};
    return status;
  }
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override {
    if (request != control_request::bytes_waiting) return Errno::enotty;
    TRY(caller.memory().write(argument, static_cast<std::int32_t>(pipe_->waiting())));
    return std::int64_t{0};
  }
  PollSource* poll_source() override { return &pipe_->source(); }
  std::string_view anonymous_name() const override { return "pipe:[1]"; }

 protected:
  PipeEnd(Reference<ByteQueue> pipe, std::uint32_t flags, Nanoseconds made)
      : FileDescription(flags), pipe_(std::move(pipe)), made_(made) {}
  ~PipeEnd() = default;

  Reference<ByteQueue> pipe_;

 private:
  Nanoseconds made_;
};

class ReadingEnd final : public PipeEnd {
 public:
  ReadingEnd(Reference<ByteQueue> pipe, std::uint32_t flags, Nanoseconds made)
      : PipeEnd(std::move(pipe), flags | open_flag::read_only, made) {}
  ~ReadingEnd() { pipe_->drop_reader(); }
  std::uint32_t poll() override { return pipe_->events_of_reader(); }

 private:
  Answer<std::size_t> read_bytes(Transfer& to) override { return pipe_->read(to); }
};

class WritingEnd final : public PipeEnd {
 public:
  WritingEnd(Reference<ByteQueue> pipe, std::uint32_t flags, Nanoseconds made)
      : PipeEnd(std::move(pipe), flags | open_flag::write_only, made) {}
  ~WritingEnd() { pipe_->drop_writer(); }
  std::uint32_t poll() override { return pipe_->events_of_writer(); }

 private:
  Answer<std::size_t> write_bytes(Transfer& from) override { return pipe_->write(from); }
};

}  // namespace

Answer<PipeEnds> make_pipe(const FileServices& services, std::uint32_t flags) {
  Allocator& heap = *services.heap;
  const Reference<ByteQueue> pipe = TRY(ByteQueue::create(heap));
  const Nanoseconds now = services.time->realtime();
  // If the second end cannot be made, the first goes, and the pipe with it.
  PipeEnds ends;
  ends.reading = TRY(make_reference<ReadingEnd>(heap, pipe, flags, now));
  ends.writing = TRY(make_reference<WritingEnd>(heap, pipe, flags, now));
  return ends;
}

}  // namespace ingot::os
