// The map of physical memory: sorted ranges that do not overlap, whatever the loader's list looked like.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "os/memory/address.h"

namespace ingot::os {

// In order of strictness: where a loader's list contradicts itself, the stricter word wins.
enum class MemoryKind : std::uint8_t {
  usable,
  image,             // the initramfs and the image's segments: given away only where the manifest says `consume`
  kernel,            // the kernel's own text and data
  acpi_reclaimable,  // usable once the ACPI tables have been read
  acpi_nvs,
  reserved,
  bad,
};

constexpr std::string_view name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::usable: return "usable";
    case MemoryKind::image: return "image";
    case MemoryKind::kernel: return "kernel";
    case MemoryKind::acpi_reclaimable: return "acpi reclaimable";
    case MemoryKind::acpi_nvs: return "acpi nvs";
    case MemoryKind::reserved: return "reserved";
    case MemoryKind::bad: return "bad";
  }
  return "unknown";
}

struct PhysicalRange {
  PhysicalAddress begin;
  std::uint64_t bytes = 0;

  constexpr PhysicalAddress end() const { return begin + bytes; }
  constexpr bool operator==(const PhysicalRange&) const = default;
};

struct MemoryRange {
  PhysicalAddress begin;
  std::uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::usable;

  constexpr PhysicalAddress end() const { return begin + bytes; }
  constexpr bool operator==(const MemoryRange&) const = default;
};

class MemoryMap {
 public:
  static constexpr std::size_t capacity = 128;

  // Adds a range; where it overlaps others, the stricter kind holds. An empty range changes nothing. Fails where the
  // range passes the end of the address space, or where the pieces no longer fit; the map is then as before.
  Result<void> add(MemoryRange range);

  std::span<const MemoryRange> ranges() const { return std::span(ranges_).first(count_); }
  std::uint64_t bytes_of(MemoryKind kind, PhysicalAddress from = PhysicalAddress(0)) const;
  // One past the highest byte that is memory: neither reserved nor bad.
  PhysicalAddress end_of_memory() const;

 private:
  std::array<MemoryRange, capacity> ranges_{};
  std::size_t count_ = 0;
};

}  // namespace ingot::os
