// What every loader tells the kernel, in one form: the PVH, multiboot2 and UEFI entries all end here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "os/boot/memory_map.h"
#include "os/memory/address.h"

namespace ingot::os {

// The protocol that brought us here; the numbers are entry.S's.
enum class LoaderProtocol : std::uint32_t { none, pvh, multiboot2 };
constexpr std::string_view name_of(LoaderProtocol protocol) {
  switch (protocol) {
    case LoaderProtocol::none: return "none";
    case LoaderProtocol::pvh: return "pvh";
    case LoaderProtocol::multiboot2: return "multiboot2";
  }
  return "unknown";
}

struct Framebuffer {
  PhysicalAddress address;
  std::uint32_t width = 0;   // pixels
  std::uint32_t height = 0;  // pixels
  std::uint32_t pitch = 0;   // bytes from one line to the next
  std::uint8_t bits_per_pixel = 0;
};

// It holds copies, never pointers: the loader's memory is usable and will be given away, and the kernel moves.
class BootInfo {
 public:
  static constexpr std::size_t command_line_capacity = 2048;
  static constexpr std::size_t module_capacity = 16;

  MemoryMap memory;
  FixedText<command_line_capacity> command_line;
  LoaderProtocol loader = LoaderProtocol::none;
  std::optional<Framebuffer> framebuffer;
  std::optional<PhysicalAddress> acpi_root;  // of the RSDP
  std::uint64_t entropy = 0;                 // from RDRAND, the loader and the clock: unguessable where RDRAND exists

  // What the loader placed in memory beside the kernel, in its order: the initramfs first, then image segments. The
  // memory map lists them as `image`.
  std::span<const PhysicalRange> modules() const { return std::span(modules_).first(module_count_); }
  Result<void> add_module(PhysicalRange range);

 private:
  std::array<PhysicalRange, module_capacity> modules_{};
  std::size_t module_count_ = 0;
};

}  // namespace ingot::os
