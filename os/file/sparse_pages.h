// SparsePages: the pages of one file, found by their number; where none was written there is a hole. A tree of frames:
// each of its tables holds 512 numbers of frames, as page tables do. It is no lock.
#pragma once

#include <cstdint>
#include <optional>

#include "os/memory/frame_source.h"
#include "os/memory/physical_window.h"
#include "os/syscall/errno.h"

namespace ingot::os {

// Who pays for frames.
class PageBudget {
 public:
  virtual Answer<void> take_page() = 0;
  virtual void give_back_page() = 0;

 protected:
  ~PageBudget() = default;
};

class SparsePages {
 public:
  static constexpr unsigned most_levels = 4;  // 512^4 pages: 2^48 bytes
  static constexpr std::uint64_t most_pages = std::uint64_t{1} << (9 * most_levels);
  static constexpr std::uint64_t most_bytes = most_pages * page_bytes;

  SparsePages(FrameSource& frames, PhysicalWindow window, PageBudget& budget)
      : frames_(frames), window_(window), budget_(budget) {}
  SparsePages(const SparsePages&) = delete;
  SparsePages& operator=(const SparsePages&) = delete;
  ~SparsePages() { cut(0); }

  std::optional<FrameNumber> find(std::uint64_t page) const;
  // A page of zeros where there was none.
  Answer<FrameNumber> find_or_add(std::uint64_t page);
  // Drops all pages from this one on. Whoever holds a reference to a frame keeps it.
  void cut(std::uint64_t first_dropped);
  // The same of so many frames at most, for those who hold a lock, and not of those that somebody uses. False: there
  // are more.
  bool cut_some(std::uint64_t first_dropped, std::uint64_t most);
  std::uint64_t count() const { return pages_; }  // frames with content, tables not counted
  // The first page from here on that exists, or does not; none up to `end`.
  std::optional<std::uint64_t> next_present(std::uint64_t page, std::uint64_t end) const;
  std::uint64_t next_absent(std::uint64_t page, std::uint64_t end) const;

 private:
  using Word = std::uint64_t;  // the number of a frame, 0: none
  static constexpr unsigned index_bits = 9, words = 1 << index_bits;

  Answer<FrameNumber> allocate();
  void release(FrameNumber frame);
  struct Cut {
    std::uint64_t first_dropped;
    std::uint64_t left = ~std::uint64_t{0};  // so many frames more; counts down
    bool keeps_used = false;
  };
  // False where more than `left` frames are to be dropped.
  bool cut_table(Word& table, unsigned level, std::uint64_t begin, Cut& cut);
  bool cut_all(Cut cut);
  Word* table_at(Word word) const { return window_.at<Word>(FrameNumber(word)); }
  static unsigned index(std::uint64_t page, unsigned level) { return (page >> (index_bits * level)) & (words - 1); }
  static std::uint64_t pages_below(unsigned levels) { return std::uint64_t{1} << (index_bits * levels); }

  FrameSource& frames_;
  PhysicalWindow window_;
  PageBudget& budget_;
  Word root_ = 0;
  unsigned levels_ = 0;  // of tables; 0: root_ is page 0 itself
  std::uint64_t pages_ = 0;
};

}  // namespace ingot::os
