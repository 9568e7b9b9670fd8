// Physical memory as a loader left it, seen from address 0. A loader's structures name each other by address, and a
// wrong one must become an error: every read is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "os/boot/memory_map.h"
#include "os/memory/address.h"

namespace ingot::os {

class LoaderMemory {
 public:
  explicit LoaderMemory(std::span<const std::byte> from_address_zero) : bytes_(from_address_zero) {}

  Result<std::span<const std::byte>> bytes(PhysicalAddress begin, std::uint64_t count) const {
    if (begin.value() > bytes_.size() || count > bytes_.size() - begin.value()) {
      return Error::of(ErrorCode::out_of_range, "expected loader data below ", PhysicalAddress(bytes_.size()),
                       ", found ", count, " bytes at ", begin);
    }
    return bytes_.subspan(begin.value(), count);
  }

  template <class Structure>
    requires std::is_trivially_copyable_v<Structure>
  Result<Structure> read(PhysicalAddress address) const {
    const std::span<const std::byte> source = TRY(bytes(address, sizeof(Structure)));
    Structure structure;
    __builtin_memcpy(&structure, source.data(), sizeof(Structure));
    return structure;
  }

  // A text that ends with a zero; longer than `limit`, it is cut there.
  Result<std::string_view> text(PhysicalAddress address, std::uint64_t limit) const {
    if (address.value() >= bytes_.size()) {
      return Error::of(ErrorCode::out_of_range, "expected a text below ", PhysicalAddress(bytes_.size()),
                       ", found its address ", address);
    }
    const std::span<const std::byte> rest = bytes_.subspan(address.value());
    std::size_t length = 0;
    while (length < rest.size() && length < limit && rest[length] != std::byte{0}) ++length;
    return std::string_view(reinterpret_cast<const char*>(rest.data()), length);
  }

 private:
  std::span<const std::byte> bytes_;
};

// An entry of a memory map as both PVH and multiboot2 have it, with the numbers of the BIOS call E820.
struct E820Entry {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t type;
  std::uint32_t reserved;

  constexpr MemoryRange range() const { return {PhysicalAddress(address), bytes, kind()}; }
  constexpr MemoryKind kind() const {
    switch (type) {
      case 1: return MemoryKind::usable;
      case 3: return MemoryKind::acpi_reclaimable;
      case 4: return MemoryKind::acpi_nvs;
      case 5: return MemoryKind::bad;
      default: return MemoryKind::reserved;  // 2, and every number that may be invented later
    }
  }
};
static_assert(sizeof(E820Entry) == 24);

}  // namespace ingot::os
