#include "os/file/channels/byte_queue.h"

#include <algorithm>

namespace ingot::os {

Answer<Reference<ByteQueue>> ByteQueue::create(Allocator& heap) {
  auto* buffer = static_cast<std::byte*>(TRY(heap.allocate(pipe_bytes, page_bytes)));
  Result<Reference<ByteQueue>> queue = make_reference<ByteQueue>(heap, buffer, heap);
  if (queue.ok()) return std::move(queue).value();
  heap.free(buffer, pipe_bytes, page_bytes);
  return queue.error();
}

Answer<std::size_t> ByteQueue::read(Transfer& to) {
  Answer<std::size_t> moved = read_locked(to);
  if (moved.ok() && moved.value() != 0) source_.notify(poll_event::writable);
  return moved;
}

Answer<std::size_t> ByteQueue::write(Transfer& from) {
  Answer<std::size_t> moved = write_locked(from);
  if (moved.ok() && moved.value() != 0) source_.notify(poll_event::readable);
  return moved;
}

std::uint32_t ByteQueue::events_of_reader() {
  const MutexGuard guard(lock_);
  return (used_ != 0 ? poll_event::readable : 0) | (writers_ == 0 ? poll_event::hang_up : 0);
}

std::uint32_t ByteQueue::events_of_writer() {
  const MutexGuard guard(lock_);
  return (pipe_bytes - used_ >= pipe_atomic_bytes ? poll_event::writable : 0) | (readers_ == 0 ? poll_event::error : 0);
}

std::size_t ByteQueue::waiting() {
  const MutexGuard guard(lock_);
  return used_;
}

void ByteQueue::drop_reader() {
  drop(readers_);
  source_.notify(poll_event::error);
}

void ByteQueue::drop_writer() {
  drop(writers_);
  source_.notify(poll_event::hang_up);
}

void ByteQueue::drop(unsigned& ends) {
  const MutexGuard guard(lock_);
  --ends;
}

std::span<std::byte> ByteQueue::range(std::size_t begin, std::size_t bytes) {
  begin %= pipe_bytes;
  return {buffer_ + begin, std::min(bytes, pipe_bytes - begin)};
}

Answer<std::size_t> ByteQueue::read_locked(Transfer& to) {
  const MutexGuard guard(lock_);
  if (to.left() == 0) return std::size_t{0};
  if (used_ == 0 && writers_ != 0) return Errno::eagain;
  std::size_t done = 0;
  while (done != used_ && to.left() != 0) {
    const Answer<std::size_t> moved = to.give(range(first_ + done, used_ - done));
    if (!moved.ok() && done == 0) return moved.error();
    if (!moved.ok()) break;
    done += moved.value();
  }
  first_ = (first_ + done) % pipe_bytes;
  used_ -= done;
  return done;
}

Answer<std::size_t> ByteQueue::write_locked(Transfer& from) {
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

}  // namespace ingot::os
