// What every loader tells the kernel, in one form: the PVH, multiboot2 and UEFI entries all end here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/image/boot_arguments.h"
#include "base/result.h"
#include "base/text.h"
#include "os/boot/memory_map.h"
#include "os/memory/address.h"

namespace ingot::os {

// The protocol that brought us here; the numbers are entry.S's.
enum class LoaderProtocol : std::uint32_t { none, pvh, multiboot2, uefi };
constexpr std::string_view name_of(LoaderProtocol protocol) {
  switch (protocol) {
    case LoaderProtocol::none: return "none";
    case LoaderProtocol::pvh: return "pvh";
    case LoaderProtocol::multiboot2: return "multiboot2";
    case LoaderProtocol::uefi: return "uefi";
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

// What `ingot cast` put beside the kernel (base/image/image_table.h): the archive of small files, and the large files.
struct CastImage {
  PhysicalRange bundle;
  std::span<const PhysicalRange> segments;
};

// It holds copies, never pointers: the loader's memory is usable and will be given away, and the kernel moves.
class BootInfo {
 public:
  static constexpr std::size_t command_line_capacity = ingot::command_line_capacity;
  static constexpr std::size_t module_capacity = 40;  // a cast image's 31, and the loader's own

  MemoryMap memory;
  FixedText<command_line_capacity> command_line;
  LoaderProtocol loader = LoaderProtocol::none;
  std::optional<Framebuffer> framebuffer;
  std::optional<PhysicalAddress> acpi_root;  // of the RSDP
  std::uint64_t entropy = 0;                 // from RDRAND, the loader and the clock: unguessable where RDRAND exists

  // What was placed in memory beside the kernel: what the loader brought, in its order, then the cast image's bundle
  // and segments. The memory map lists them as `image`.
  std::span<const PhysicalRange> modules() const { return std::span(modules_).first(module_count_); }
  Result<void> add_module(PhysicalRange range);

  // The parts of a cast image; nothing where the kernel was not cast.
  std::optional<CastImage> image() const {
    if (image_parts_ == 0) return {};
    const auto parts = modules().last(image_parts_);
    return CastImage{parts[0], parts.subspan(1)};
  }
  // What the loader brought beside a cast image: a separate initrd.
  std::span<const PhysicalRange> loaders_modules() const { return modules().first(module_count_ - image_parts_); }
  // The last `parts` modules are the cast image's: bundle and segments.
  void mark_image(std::size_t parts) { image_parts_ = parts; }

 private:
  std::array<PhysicalRange, module_capacity> modules_{};
  std::size_t module_count_ = 0;
  std::size_t image_parts_ = 0;
};

}  // namespace ingot::os
