#include "os/file/file_description.h"

namespace ingot::os {

namespace {

constexpr std::uint64_t largest_offset = 0x7fff'ffff'ffff'ffff;

}  // namespace

void FileDescription::change_flags(std::uint32_t mask, std::uint32_t values) {
  std::uint32_t before = flags();
  while (!flags_.compare_exchange(before, (before & ~mask) | (values & mask), MemoryOrder::relaxed)) {
  }
}

bool FileDescription::readable() const {
  const std::uint32_t now = flags();
  return (now & open_flag::path) == 0 && (now & open_flag::access_mask) != open_flag::write_only;
}

bool FileDescription::writable() const {
  const std::uint32_t now = flags();
  return (now & open_flag::path) == 0 && (now & open_flag::access_mask) != open_flag::read_only;
}

Answer<std::size_t> FileDescription::read(Transfer& to) {
  if (!readable()) return Errno::ebadf;
  return read_bytes(to);
}

Answer<std::size_t> FileDescription::write(Transfer& from) {
  if (!writable()) return Errno::ebadf;
  return write_bytes(from);
}

Answer<std::size_t> FileDescription::read_at(Transfer& to, std::uint64_t offset) {
  if (!readable()) return Errno::ebadf;
  if (offset > largest_offset) return Errno::einval;
  return read_bytes_at(to, offset);
}

Answer<std::size_t> FileDescription::write_at(Transfer& from, std::uint64_t offset) {
  if (!writable()) return Errno::ebadf;
  if (offset > largest_offset) return Errno::einval;
  return write_bytes_at(from, offset);
}

Answer<std::size_t> SeekableDescription::read_bytes(Transfer& to) {
  const MutexGuard guard(lock_);
  const std::size_t moved = TRY(read_bytes_at(to, position_));
  position_ += moved;
  return moved;
}

Answer<std::size_t> SeekableDescription::write_range(Transfer&, std::uint64_t) { return Errno::espipe; }

Answer<std::size_t> SeekableDescription::write_at_or_end(Transfer& from, std::uint64_t& offset) {
  if ((flags() & open_flag::append) == 0) return write_range(from, offset);
  std::optional<MutexGuard> guard;
  if (Mutex* const lock = append_lock(); lock != nullptr) guard.emplace(*lock);
  offset = TRY(size());
  return write_range(from, offset);
}

Answer<std::size_t> SeekableDescription::write_bytes(Transfer& from) {
  const MutexGuard guard(lock_);
  const std::size_t moved = TRY(write_at_or_end(from, position_));
  position_ += moved;
  return moved;
}

Answer<std::size_t> SeekableDescription::write_bytes_at(Transfer& from, std::uint64_t offset) {
  return write_at_or_end(from, offset);
}

Answer<std::uint64_t> SeekableDescription::next_data(std::uint64_t offset) {
  if (offset >= TRY(size())) return Errno::enxio;
  return offset;
}

Answer<std::uint64_t> SeekableDescription::next_hole(std::uint64_t offset) {
  const std::uint64_t end = TRY(size());
  if (offset >= end) return Errno::enxio;
  return end;
}

Answer<std::uint64_t> SeekableDescription::seek(std::int64_t offset, Whence whence) {
  const MutexGuard guard(lock_);
  std::int64_t from = 0;
  switch (whence) {
    case Whence::begin: break;
    case Whence::current: from = static_cast<std::int64_t>(position_); break;
    case Whence::end: from = static_cast<std::int64_t>(TRY(size())); break;
    case Whence::data:
    case Whence::hole:
      if (offset < 0) return Errno::enxio;
      position_ = TRY(whence == Whence::data ? next_data(static_cast<std::uint64_t>(offset))
                                             : next_hole(static_cast<std::uint64_t>(offset)));
      return position_;
    default: return Errno::einval;
  }
  std::int64_t target = 0;
  if (__builtin_add_overflow(from, offset, &target)) return Errno::eoverflow;
  if (target < 0) return Errno::einval;
  position_ = static_cast<std::uint64_t>(target);
  return position_;
}

}  // namespace ingot::os
