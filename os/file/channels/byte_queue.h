// ByteQueue: bytes that one side puts in and the other takes out in order: what a pipe is made of.
#pragma once

#include <cstddef>
#include <span>

#include "os/file/channels/pipe.h"
#include "os/file/poll.h"
#include "os/file/transfer.h"
#include "os/memory/allocator.h"
#include "os/memory/shared.h"
#include "os/schedule/mutex.h"

namespace ingot::os {

class ByteQueue final : public Shared {
 public:
  static Answer<Reference<ByteQueue>> create(Allocator& heap);
  ByteQueue(std::byte* buffer, Allocator& heap) : buffer_(buffer), heap_(heap) {}
  ~ByteQueue() { heap_.free(buffer_, pipe_bytes, page_bytes); }

  // EAGAIN: nothing there, or no room; EPIPE: nobody reads any more.
  Answer<std::size_t> read(Transfer& to);
  Answer<std::size_t> write(Transfer& from);
  std::uint32_t events_of_reader();
  std::uint32_t events_of_writer();
  std::size_t waiting();
  void drop_reader();
  void drop_writer();
  PollSource& source() { return source_; }

 private:
  void drop(unsigned& ends);
  // A ring: what is used, or what is free, is at most two ranges.
  std::span<std::byte> range(std::size_t begin, std::size_t bytes);
  Answer<std::size_t> read_locked(Transfer& to);
  Answer<std::size_t> write_locked(Transfer& from);

  Mutex lock_{LockRank::file_data};
  std::byte* buffer_;
  Allocator& heap_;
  std::size_t first_ = 0, used_ = 0;
  unsigned readers_ = 1, writers_ = 1;
  PollSource source_;
};

}  // namespace ingot::os
