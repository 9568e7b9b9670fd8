// CacheView: where the keys or values of (sequence, head, position) lie. One interface for the three ways a KV cache is
// laid out, so that whatever reads a cache is written once.
//
// Memory is pages of [head][token][dim]: a head's tokens are neighbours, which is the order attention reads them in.
//   contiguous  sequence s is page s, and a page holds every position
//   ring        positions wrap: slot = position mod capacity, so that a page, or a table of pages, holds a window
//   paged       a block table names the pages of each sequence; sequences may share pages (copy_pages forks one)
#pragma once

#include "kernels/contract/fields.h"
#include "tensor/any_view.h"

namespace ingot {

enum class CachePolicy : std::uint8_t { contiguous, ring, paged };

struct CacheSlot {
  std::int64_t page;
  std::int64_t token;
};

template <class Byte>
struct BasicCacheView {
  BasicAnyView<Byte> pages;              // [P, H, L, D]
  View<const std::int32_t> block_table;  // [B, N]; left out: sequence s is page s
  CachePolicy policy = CachePolicy::contiguous;

  std::int64_t heads() const { return pages.size(1); }
  std::int64_t page_length() const { return pages.size(2); }
  std::int64_t width() const { return pages.size(3); }
  std::int64_t sequences() const { return has_table() ? block_table.size(0) : pages.size(0); }
  std::int64_t capacity() const { return (has_table() ? block_table.size(1) : 1) * page_length(); }

  // Precondition: sequence in [0, sequences()); position >= 0 and, but in a ring, below capacity().
  CacheSlot slot(std::int64_t sequence, std::int64_t position) const {
    const std::int64_t index = policy == CachePolicy::ring ? position % capacity() : position;
    if (!has_table()) return {sequence, index};
    return {block_table(sequence, index / page_length()), index % page_length()};
  }
  // The `width()` numbers of one head at one slot. Precondition: the slot's page is in [0, P).
  Byte* row(CacheSlot where, std::int64_t head) const {
    return pages.data() + where.page * pages.byte_stride(0) + head * pages.byte_stride(1) +
           where.token * pages.byte_stride(2);
  }

 private:
  bool has_table() const { return is_present(block_table); }
};

using CacheView = BasicCacheView<std::byte>;
using ConstCacheView = BasicCacheView<const std::byte>;

// Which (sequence, position) each row of a call is about.
struct CachePlaces {
  View<const std::int32_t> sequences;  // [T], contiguous
  View<const std::int32_t> positions;  // [T], contiguous

  std::int64_t count() const { return sequences.size(0); }
  template <class Byte>
  CacheSlot slot(const BasicCacheView<Byte>& cache, std::int64_t index) const {
    return cache.slot(sequences.data()[index], positions.data()[index]);
  }
};

}  // namespace ingot
