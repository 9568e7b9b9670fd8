#include "os/file/sparse_pages.h"

namespace ingot::os {

Answer<FrameNumber> SparsePages::allocate() {
  TRY(budget_.take_page());
  Result<FrameNumber> frame = frames_.allocate(page_order);
  if (!frame.ok()) {
    budget_.give_back_page();
    return Errno::enospc;  // as a full disk: programs know what to do about that
  }
  window_.clear(frame.value().address(), page_bytes);
  return frame.value();
}

void SparsePages::release(FrameNumber frame) {
  frames_.release(frame, page_order);
  budget_.give_back_page();
}

std::optional<FrameNumber> SparsePages::find(std::uint64_t page) const {
  if (page >= pages_below(levels_)) return {};
  Word word = root_;
  for (unsigned level = levels_; level-- > 0 && word != 0;) word = table_at(word)[index(page, level)];
  if (word == 0) return {};
  return FrameNumber(word);
}

Answer<FrameNumber> SparsePages::find_or_add(std::uint64_t page) {
  if (page >= most_pages) return Errno::efbig;
  while (page >= pages_below(levels_)) {
    if (root_ != 0) {
      const FrameNumber higher = TRY(allocate());
      *table_at(higher.value()) = root_;
      root_ = higher.value();
    }
    ++levels_;
  }
  Word* word = &root_;
  for (unsigned level = levels_; level-- > 0;) {
    if (*word == 0) *word = TRY(allocate()).value();
    word = &table_at(*word)[index(page, level)];
  }
  if (*word == 0) {
    *word = TRY(allocate()).value();
    ++pages_;
  }
  return FrameNumber(*word);
}

// `begin` is the first page that `table`, with `level` levels of tables, holds. Recursion is four deep at most.
bool SparsePages::cut_table(Word& table, unsigned level, std::uint64_t begin, Cut& cut) {
  if (table == 0 || begin + pages_below(level) <= cut.first_dropped) return true;
  bool is_used = level == 0 && cut.keeps_used && frames_.table().info(FrameNumber(table)).references() > 1;
  if (level > 0) {
    Word* entries = table_at(table);
    for (unsigned i = 0; i < words; ++i) {
      if (!cut_table(entries[i], level - 1, begin + i * pages_below(level - 1), cut)) return false;
      is_used = is_used || entries[i] != 0;
    }
  }
  if (begin < cut.first_dropped || is_used) return true;
  if (cut.left == 0) return false;
  --cut.left;
  release(FrameNumber(table));
  if (level == 0) --pages_;
  table = 0;
  return true;
}

bool SparsePages::cut_all(Cut cut) {
  const bool is_done = cut_table(root_, levels_, 0, cut);
  if (root_ == 0) levels_ = 0;
  return is_done;
}

bool SparsePages::cut_some(std::uint64_t first_dropped, std::uint64_t most) {
  return cut_all({first_dropped, most, true});
}

void SparsePages::cut(std::uint64_t first_dropped) { static_cast<void>(cut_all({.first_dropped = first_dropped})); }

std::optional<std::uint64_t> SparsePages::next_present(std::uint64_t page, std::uint64_t end) const {
  while (page < end && page < pages_below(levels_)) {
    Word word = root_;
    unsigned level = levels_;
    while (level > 0 && word != 0) word = table_at(word)[index(page, --level)];
    if (word != 0) return page;
    page = (page / pages_below(level) + 1) * pages_below(level);  // past all that this empty place would hold
  }
  return {};
}

std::uint64_t SparsePages::next_absent(std::uint64_t page, std::uint64_t end) const {
  while (page < end && find(page)) ++page;
  return page;
}

}  // namespace ingot::os
