// The parts of UEFI that the loader uses (UEFI specification 2.10: 4.3, 4.4, 7.2, 9.1, 12.4, 13.4, 12.9, 37.5). Places
// that it does not use are words of padding.
#pragma once

#include <cstdint>

namespace ingot::os::uefi {

using Status = std::uint64_t;  // 0: success
using Handle = void*;

// The firmware's calling convention is Microsoft's.
template <class... Arguments>
using Function = Status(__attribute__((ms_abi)) *)(Arguments...);

struct Guid {
  std::uint32_t a;
  std::uint16_t b, c;
  std::uint8_t d[8];
};

struct TextOutput {
  void* reset;
  Function<TextOutput*, const char16_t*> output_string;
};

enum class AllocateType : std::uint32_t { anywhere, below, at };
constexpr std::uint32_t loader_code = 1, loader_data = 2;  // EFI_MEMORY_TYPE

struct BootServices {
  std::uint64_t header[3], task_priority[2];
  Function<AllocateType, std::uint32_t, std::uint64_t, std::uint64_t*> allocate_pages;
  void* free_pages;
  Function<std::uint64_t*, void*, std::uint64_t*, std::uint64_t*, std::uint32_t*> get_memory_map;
  void* pools_events_and_installing[11];
  Function<Handle, const Guid*, void**> handle_protocol;
  void* more_handles[5];
  void* images[4];
  Function<Handle, std::uint64_t> exit_boot_services;
  void* get_next_monotonic_count;
  Function<std::uint64_t> stall;  // microseconds
  void* watchdog_drivers_and_opening[8];
  Function<const Guid*, void*, void**> locate_protocol;
};

struct ConfigurationTable {
  Guid guid;
  void* table;
};

struct SystemTable {
  std::uint64_t header[3];
  void* vendor;
  std::uint64_t revision;
  void* input[2];
  Handle output_handle;
  TextOutput* output;
  void* errors[2];
  void* runtime_services;
  BootServices* boot_services;
  std::uint64_t table_count;
  const ConfigurationTable* tables;
};

constexpr Guid acpi_2_table{0x8868e871, 0xe4f1, 0x11d3, {0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81}};
constexpr Guid acpi_1_table{0xeb9d2d30, 0x2d88, 0x11d3, {0x9a, 0x16, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0x4d}};

struct LoadedImage {
  static constexpr Guid guid{0x5b1b31a1, 0x9562, 0x11d2, {0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
  std::uint64_t revision;
  Handle parent;
  SystemTable* system;
  Handle device;  // the volume that the loader came from
};

struct File {
  std::uint64_t revision;
  Function<File*, File**, const char16_t*, std::uint64_t, std::uint64_t> open;
  void* close_and_remove[2];
  Function<File*, std::uint64_t*, void*> read;
  void* write;
  Function<File*, std::uint64_t*> get_position;
  Function<File*, std::uint64_t> set_position;
};

struct FileSystem {
  static constexpr Guid guid{0x964e5b22, 0x6459, 0x11d2, {0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
  std::uint64_t revision;
  Function<FileSystem*, File**> open_volume;
};

struct GraphicsMode {
  std::uint32_t version, width, height;
  std::uint32_t format;  // 0 and 1: four bytes a pixel; the others have no framebuffer that we could use
  std::uint32_t masks[4];
  std::uint32_t pixels_per_line;
};
struct GraphicsOutput {
  static constexpr Guid guid{0x9042a9de, 0x23dc, 0x4a38, {0x96, 0xfb, 0x7a, 0xde, 0xd0, 0x80, 0x51, 0x6a}};
  void* functions[3];
  struct {
    std::uint32_t mode_count, mode;
    const GraphicsMode* information;
    std::uint64_t information_bytes, framebuffer, framebuffer_bytes;
  }* mode;
};

struct RandomNumbers {
  static constexpr Guid guid{0x3152bca5, 0xeade, 0x433d, {0x86, 0x2e, 0xc0, 0x1c, 0xdc, 0x29, 0x1f, 0x44}};
  void* get_information;
  Function<RandomNumbers*, const Guid*, std::uint64_t, void*> get;
};

}  // namespace ingot::os::uefi
