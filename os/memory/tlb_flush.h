// What CPUs must forget after page tables changed, gathered so that it is asked for once; and the frames nobody may
// reuse before they did.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "os/memory/address.h"
#include "os/memory/frame_source.h"
#include "os/memory/page_attributes.h"

namespace ingot::os {

// Pages of one size, one after the other. Naming any address of a page makes a CPU forget all of that page.
struct StaleRange {
  VirtualAddress begin;
  std::uint64_t pages = 0;
  PageSize size = PageSize::small;

  bool operator==(const StaleRange&) const = default;
};

struct TlbFlush {
  static constexpr std::size_t range_capacity = 8;
  static constexpr std::uint64_t most_pages = 64;  // beyond, forgetting everything is cheaper

  bool everything = false;
  std::uint64_t pages = 0;
  std::size_t range_count = 0;
  std::array<StaleRange, range_capacity> ranges{};

  void clear() {
    everything = false;
    pages = 0;
    range_count = 0;
  }
  bool empty() const { return !everything && range_count == 0; }

  void add(VirtualAddress page, PageSize size) {
    if (everything) return;
    ++pages;
    if (range_count != 0) {
      StaleRange& last = ranges[range_count - 1];
      if (last.size == size && last.begin + last.pages * bytes_of(size) == page) {
        ++last.pages;
        everything = pages > most_pages;
        return;
      }
    }
    everything = pages > most_pages || range_count == range_capacity;
    if (!everything) ranges[range_count++] = {page, 1, size};
  }
};

// Forgets what the flush names on the CPU that calls.
void flush_this_cpu(const TlbFlush& flush);

// Makes every CPU that may use the tables forget what a flush names, and returns when all did. The hardware's part: a
// test's implementation writes down what it was asked.
class TlbFlusher {
 public:
  virtual void flush(const TlbFlush& flush) = 0;

 protected:
  ~TlbFlusher() = default;
};

// Collects the flush of one change, and performs it at its end or when it can hold no more.
class TlbBatch {
 public:
  TlbBatch(TlbFlusher& flusher, FrameSource& frames) : flusher_(&flusher), frames_(&frames) {}
  ~TlbBatch() { finish(); }
  TlbBatch(const TlbBatch&) = delete;
  TlbBatch& operator=(const TlbBatch&) = delete;

  void add(VirtualAddress page, PageSize size) { flush_.add(page, size); }

  // Releases the references after the flush: until then a CPU may still write through its old translation.
  void release_later(FrameNumber frame, unsigned order) {
    if (count_ == capacity) finish();
    waiting_[count_++] = {frame.value(), order};
  }

  void finish() {
    if (!flush_.empty()) flusher_->flush(flush_);
    for (std::size_t index = 0; index < count_; ++index) {
      frames_->release(FrameNumber(waiting_[index].frame), waiting_[index].order);
    }
    flush_.clear();
    count_ = 0;
  }

 private:
  static constexpr std::size_t capacity = 64;
  struct Waiting {  // plain numbers, so that an empty batch costs no initialisation
    std::uint64_t frame;
    unsigned order;
  };

  TlbFlusher* flusher_;
  FrameSource* frames_;
  TlbFlush flush_;
  std::size_t count_ = 0;
  std::array<Waiting, capacity> waiting_;
};

}  // namespace ingot::os
