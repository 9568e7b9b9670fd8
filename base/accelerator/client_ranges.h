// ClientRanges: which of a client's addresses an accelerator sees, and where they lie for it. Each range is one stretch
// on both sides, at addresses of their own: what a tensor's strides reach stays in its range, or is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace ingot::accelerator {

enum class Access : std::uint8_t { read, write };

struct ClientRange {
  std::uint64_t begin = 0;  // the client's address
  std::uint64_t bytes = 0;
  std::uint64_t home = 0;  // the accelerator's address
  bool writable = false;

  constexpr std::uint64_t end() const { return begin + bytes; }
};

template <std::size_t capacity>
class ClientRanges {
 public:
  std::size_t count() const { return count_; }
  const ClientRange& operator[](std::size_t index) const { return ranges_[index]; }

  // Fails where it overlaps another one, and where there are too many.
  Result<void> add(const ClientRange& range) {
    if (range.bytes == 0 || range.begin + range.bytes < range.begin) {
      return Error::of(ErrorCode::invalid_argument, "expected a range of addresses, found ", range.bytes, " bytes at ",
                       range.begin);
    }
    if (count_ == capacity) {
      return Error::of(ErrorCode::out_of_memory, "expected at most ", capacity, " ranges of memory, found one more");
    }
    const std::size_t place = first_behind(range.begin);
    const bool meets_former = place > 0 && ranges_[place - 1].end() > range.begin;
    const bool meets_next = place < count_ && ranges_[place].begin < range.end();
    if (meets_former || meets_next) {
      return Error::of(ErrorCode::invalid_argument, "expected a range of its own, found ", range.bytes, " bytes at ",
                       range.begin, ", of which some are mapped already");
    }
    for (std::size_t i = count_; i > place; --i) ranges_[i] = ranges_[i - 1];
    ranges_[place] = range;
    ++count_;
    return {};
  }

  // Takes out the range that begins there.
  Result<ClientRange> remove(std::uint64_t begin) {
    const std::size_t behind = first_behind(begin);
    if (behind == 0 || ranges_[behind - 1].begin != begin) {
      return Error::of(ErrorCode::not_found, "expected the first address of a mapped range, found ", begin);
    }
    const ClientRange removed = ranges_[behind - 1];
    for (std::size_t i = behind; i < count_; ++i) ranges_[i - 1] = ranges_[i];
    --count_;
    return removed;
  }

  // The accelerator's address of that stretch, all of which lies in one range.
  Result<std::uint64_t> find(std::uint64_t begin, std::uint64_t bytes, Access access) const {
    const std::size_t behind = first_behind(begin);
    const ClientRange* range = behind == 0 ? nullptr : &ranges_[behind - 1];
    if (range == nullptr || begin - range->begin > range->bytes || bytes > range->bytes - (begin - range->begin)) {
      return Error::of(ErrorCode::out_of_range, "expected memory that was mapped in one piece, found ", bytes,
                       " bytes at ", begin);
    }
    if (access == Access::write && !range->writable) {
      return Error::of(ErrorCode::denied, "expected memory that may be written, found ", bytes, " bytes at ", begin,
                       ", mapped to be read");
    }
    return range->home + (begin - range->begin);
  }

 private:
  // The index of the first range that begins behind the address.
  std::size_t first_behind(std::uint64_t address) const {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (ranges_[middle].begin <= address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  std::array<ClientRange, capacity> ranges_{};
  std::size_t count_ = 0;
};

}  // namespace ingot::accelerator
