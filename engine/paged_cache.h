// PagedCache: keys and values of the layers that keep the same positions, in pages that all sequences draw from, and
// which pages each sequence holds.
//
// A ring keeps the last positions only. Its sequences hold a few pages each, and their table repeats them: page p of a
// sequence is page p mod ring.pages of its list, so that a new position takes the place of one that no token sees any
// more. Whoever reads through the table needs to know nothing of it, as long as he reads no further back than the
// window.
#pragma once

#include <map>
#include <string>

#include "engine/page_pool.h"
#include "machine/gpu/memory_home.h"
#include "model/circuit/circuit.h"

namespace ingot {

struct CacheRing {
  std::int64_t pages = 0;   // of each sequence; 0: no ring, all positions are kept
  std::int64_t window = 0;  // positions that a token sees, itself included

  // Pages that hold what the token behind a page's end sees.
  std::int64_t window_pages(std::int64_t page_length) const {
    return window == 0 ? 0 : divide_rounding_up(window - 1, page_length);
  }
};

// What is known of a text's beginning.
struct KnownBeginning {
  std::int64_t tokens = 0;
  std::int64_t pages_in_use = 0;  // of its pages, by others: the rest counts as free
};

class PagedCache {
 public:
  // `pages` are shared by all sequences.
  PagedCache(std::int32_t pages, std::int64_t page_length, int sequences, CacheRing ring = {}, std::uint64_t secret = 0,
             MemoryHome home = {})
      : home_(home),
        page_length_(page_length),
        ring_(ring),
        pool_(pages, page_length, secret),
        holdings_(static_cast<std::size_t>(sequences)) {}

  // Memory for the keys or values of one layer: a tensor whose first axis is the pages.
  Result<void> add_layer(const CircuitTensor& tensor);
  bool has_layers() const { return !layers_.empty(); }
  // Where a layer lies; null: not here.
  std::byte* find(std::string_view layer) const;

  // Lets `to`, which holds nothing, hold what `from` holds.
  void share(int from, int to);
  // Texts of different salts never share. None of these is for rings, which overwrite what they held.
  // The whole pages that others computed of the beginning of `tokens`.
  std::vector<std::int32_t> known_pages(std::uint64_t salt, std::span<const std::int32_t> tokens) const {
    return pool_.texts().find(salt, tokens);
  }
  std::int64_t count_in_use(std::span<const std::int32_t> pages) const;
  // Counts what changes the answers of these two.
  std::uint64_t changes() const { return pool_.texts().changes(); }
  // Lets the sequence, which holds nothing, hold them.
  void adopt(int sequence, std::span<const std::int32_t> known_pages);
  // Makes the full pages of a sequence known, whose tokens these are. Where another made the same text known before,
  // the sequence holds that page from now on instead of its own.
  void publish(int sequence, std::uint64_t salt, std::span<const std::int32_t> tokens);
  // The number of the text up to the end of a page. Precondition: the page is known.
  std::uint64_t text_number(std::int32_t page) const { return pool_.texts().number(page); }
  std::int32_t page(int sequence, std::int64_t entry) const {
    return holdings_[static_cast<std::size_t>(sequence)].pages[place_of(entry)];
  }

  // What the next token of a ring's sequence sees, as bytes: to copy it, and to put it into a sequence that holds
  // nothing. Precondition: the length is that of the sequence, and a page ends there.
  std::size_t window_bytes() const;
  void copy_window(int sequence, std::int64_t length, std::byte* to) const;
  Result<void> restore_window(int sequence, std::int64_t length, const std::byte* from);
  // Where a layer keeps the positions of a sequence of this length: its pages, in the order of its list. Precondition:
  // the host has them.
  std::vector<std::span<std::byte>> pieces(std::string_view layer, int sequence, std::int64_t length) const;
  std::vector<std::string> layer_names() const;
  // Gives back what lies behind `length`. Precondition: length is 0 or at least earliest_length().
  void truncate(int sequence, std::int64_t length);
  // The least length, but for 0, that the sequence can be turned back to: before it, a token would see positions that
  // are overwritten.
  std::int64_t earliest_length(int sequence) const;

  // Whether positions begin to end, of a sequence that has `begin`, can be made writable.
  Result<void> check_room(int sequence, std::int64_t begin, std::int64_t end) const;
  // Makes them writable: takes pages, and copies shared ones. Their memory is there from then on, also where the
  // operating system gives it at the first touch only. Fails where a device has no memory for a page that was never
  // used before; those before it are the sequence's then. Precondition: check_room().
  Result<void> reserve(int sequence, std::int64_t begin, std::int64_t end);

  // The sequence's row of a block table. Entries of pages that it does not hold are 0.
  void write_table(int sequence, std::span<std::int32_t> row) const;

  std::int64_t held_pages(int sequence) const {
    return static_cast<std::int64_t>(holdings_[static_cast<std::size_t>(sequence)].pages.size());
  }
  // Of these, those that are free when the sequence goes.
  std::int64_t own_pages(int sequence) const;
  std::int64_t free_pages() const { return pool_.free_count(); }
  std::size_t bytes() const;
  std::size_t host_bytes() const;  // of these, of layers that stay on the host where the home is a device
  std::size_t most_bytes() const;  // when all pages are in use

 private:
  struct Layer {
    MemoryHome home;
    HomeMemory memory;
    std::size_t page_bytes = 0;
  };
  struct Holding {
    std::vector<std::int32_t> pages;
    std::size_t published = 0;  // of them, from the first on
    std::int64_t oldest = 0;    // position that is not overwritten
  };
  // Entries of a holding's list that positions begin to end lie in.
  struct Entries {
    std::int64_t first = 0;  // counted without wrapping
    std::int64_t count = 0;
  };
  Entries entries_of(std::int64_t begin, std::int64_t end) const;
  std::size_t place_of(std::int64_t entry) const {
    return static_cast<std::size_t>(ring_.pages > 0 ? entry % ring_.pages : entry);
  }
  // A page that is free, with memory behind it.
  Result<std::int32_t> take_page();
  Result<void> touch_page(std::int32_t page);
  void copy_page(std::int32_t from, std::int32_t to);

  MemoryHome home_;
  std::int64_t page_length_;
  CacheRing ring_;
  PagePool pool_;
  std::vector<Holding> holdings_;  // by sequence
  std::map<std::string, Layer, std::less<>> layers_;
};

}  // namespace ingot
