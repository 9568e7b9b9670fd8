#include "os/file/channels/event_file.h"

namespace ingot::os {
namespace {

constexpr std::uint64_t most = ~std::uint64_t{0} - 1;

class EventFile final : public FileDescription {
 public:
  EventFile(std::uint64_t count, EventReads reads, std::uint32_t flags)
      : FileDescription(flags | open_flag::read_write), count_(LockRank::file_pages, count), reads_(reads) {}

  Answer<FileStatus> status() override { return anonymous_status(); }
  std::uint32_t poll() override {
    return count_.with([](std::uint64_t& count) {
      return (count != 0 ? poll_event::readable : 0) | (count < most ? poll_event::writable : 0);
    });
  }
  PollSource* poll_source() override { return &source_; }
  std::string_view anonymous_name() const override { return "anon_inode:[eventfd]"; }

 private:
  Answer<std::size_t> read_bytes(Transfer& to) override {
    if (to.left() < sizeof(std::uint64_t)) return Errno::einval;
    const std::uint64_t taken = count_.with([&](std::uint64_t& count) {
      const std::uint64_t part = reads_ == EventReads::one && count != 0 ? 1 : count;
      count -= part;
      return part;
    });
    if (taken == 0) return Errno::eagain;
    source_.notify(poll_event::writable);
    return to.give(std::as_bytes(std::span(&taken, 1)));
  }
  Answer<std::size_t> write_bytes(Transfer& from) override {
    std::uint64_t added = 0;
    if (from.left() < sizeof(added)) return Errno::einval;
    from.shorten(sizeof(added));  // what comes behind is not looked at
    const std::size_t moved = TRY(from.take(std::as_writable_bytes(std::span(&added, 1))));
    if (moved < sizeof(added)) return Errno::efault;
    if (added > most) return Errno::einval;
    const bool fits = count_.with([&](std::uint64_t& count) {
      const bool room = added <= most - count;
      if (room) count += added;
      return room;
    });
    if (!fits) return Errno::eagain;
    source_.notify(poll_event::readable);
    return moved;
  }

  Locked<std::uint64_t> count_;
  EventReads reads_;
  PollSource source_;
};

}  // namespace

Answer<Reference<FileDescription>> make_event_file(Allocator& heap, std::uint64_t count, EventReads reads,
                                                   std::uint32_t flags) {
  return Reference<FileDescription>(TRY(make_reference<EventFile>(heap, count, reads, flags)));
}

}  // namespace ingot::os
