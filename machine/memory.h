// Aligned memory, on huge pages where the system grants them.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/units.h"

namespace ingot {

enum class PageBacking : std::uint8_t {
  ordinary,          // the system's base page
  transparent_huge,  // 2 MiB-aligned and advised; the kernel decides page by page
  explicit_huge,     // from the reserved huge-page pool
};

std::string_view name_of(PageBacking backing);

class Memory {
 public:
  // At least `size` bytes, zeroed, aligned to `alignment` (a power of two, at most 2 MiB).
  // Requests of 2 MiB and more ask for huge pages and fall back to ordinary ones; backing() says which was got.
  static Result<Memory> allocate(Bytes size, std::size_t alignment = 64);

  Memory() = default;
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  PageBacking backing() const { return backing_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::byte* mapping_ = nullptr;  // what munmap gets: the mapping may start before the aligned data
  std::size_t mapping_size_ = 0;
  PageBacking backing_ = PageBacking::ordinary;
};

}  // namespace ingot
