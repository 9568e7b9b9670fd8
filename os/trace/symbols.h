// SymbolTable: which function an address lies in. The table is made after the link (os/images/list_symbols.py, which
// describes its format) and stands in the image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "os/memory/address.h"

namespace ingot::os {

struct Symbol {
  std::string_view name;
  std::uint64_t offset = 0;  // of the address from the function's first byte
};

class SymbolTable {
 public:
  constexpr SymbolTable() = default;  // knows nothing
  // Offsets in the table count from `base`. Refuses a table that contradicts itself: a panic will rely on it.
  static Result<SymbolTable> create(std::span<const std::byte> table, VirtualAddress base);

  std::optional<Symbol> find(VirtualAddress address) const;
  std::size_t size() const { return count_; }

 private:
  struct Entry {
    std::uint32_t offset, name;
    std::uint32_t name_begin() const { return name & 0xff'ffff; }
    std::uint32_t name_bytes() const { return name >> 24; }
  };
  Entry entry(std::size_t index) const;

  std::span<const std::byte> table_;
  VirtualAddress base_;
  std::size_t count_ = 0;
};

}  // namespace ingot::os
