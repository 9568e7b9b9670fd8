// UsedUpPages: which pages of a file were given away, and which a device uses, so that they are not. It is no lock.
#pragma once

#include <cstdint>

#include "os/memory/allocator.h"

namespace ingot::os {

class UsedUpPages {
 public:
  explicit UsedUpPages(Allocator& heap) : heap_(heap) {}
  UsedUpPages(const UsedUpPages&) = delete;
  UsedUpPages& operator=(const UsedUpPages&) = delete;
  ~UsedUpPages() {
    while (pins_ != nullptr) remove(&pins_);
    if (words_ != nullptr) heap_.free(words_, bytes_);
  }

  // Makes room for a bit for each page, once. Without it nothing can be given away.
  Result<void> prepare(std::uint64_t pages) {
    if (words_ != nullptr) return {};
    const std::uint64_t bytes = (pages + 63) / 64 * sizeof(std::uint64_t);
    words_ = static_cast<std::uint64_t*>(TRY(heap_.allocate(bytes)));
    __builtin_memset(words_, 0, bytes);
    bytes_ = bytes;
    return {};
  }

  bool contains(std::uint64_t page) const {
    return page / 64 < bytes_ / sizeof(std::uint64_t) && (words_[page / 64] >> page % 64 & 1) != 0;
  }
  void add(std::uint64_t page) { words_[page / 64] |= std::uint64_t{1} << page % 64; }

  // From the page `begin` to `end`; several may pin one page.
  Result<void> pin(std::uint64_t begin, std::uint64_t end) {
    auto* pin = static_cast<Pin*>(TRY(heap_.allocate(sizeof(Pin))));
    *pin = {begin, end, pins_};
    pins_ = pin;
    return {};
  }
  // Precondition: it was pinned so.
  void unpin(std::uint64_t begin, std::uint64_t end) {
    Pin** place = &pins_;
    while ((*place)->begin != begin || (*place)->end != end) place = &(*place)->next;
    remove(place);
  }
  bool is_pinned(std::uint64_t page) const {
    const Pin* pin = pins_;
    while (pin != nullptr && (page < pin->begin || page >= pin->end)) pin = pin->next;
    return pin != nullptr;
  }

 private:
  struct Pin {
    std::uint64_t begin, end;
    Pin* next;
  };
  void remove(Pin** place) {
    Pin* pin = *place;
    *place = pin->next;
    heap_.free(pin, sizeof(Pin));
  }

  Allocator& heap_;
  std::uint64_t* words_ = nullptr;
  std::uint64_t bytes_ = 0;
  Pin* pins_ = nullptr;
};

}  // namespace ingot::os
