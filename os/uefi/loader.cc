// BOOTX64.EFI: brings the kernel from a volume into memory, tells it what the firmware knows, and ends the firmware.
// Read it from the bottom: efi_main, load_kernel, describe_machine, leave_firmware.
#include "os/boot/elf.h"
#include "os/boot/uefi_handover.h"
#include "os/trace/format.h"
#include "os/uefi/firmware.h"
#include "os/uefi/image_parts.h"

namespace ingot::os::uefi {

namespace {

// What the kernel reads before it has a page table of its own lies in the first GiB.
constexpr std::uint64_t kernel_reaches = giant_page_bytes;

struct Loader {
  Handle image;
  SystemTable& system;
  BootServices& services = *system.boot_services;
  File* volume = nullptr;
};

Error failure(std::string_view expected, Status status) {
  return Error::of(ErrorCode::input_output, "expected ", expected, ", found status ", Hexadecimal{status});
}

// Memory of our own: anywhere below `address`, or exactly there.
Result<std::byte*> allocate(Loader& loader, AllocateType type, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t pages = round_up(bytes, page_bytes) / page_bytes;
  std::uint64_t found = address;
  // What is placed exactly is the kernel: strict firmware executes nothing in memory for data.
  const std::uint32_t kind = type == AllocateType::at ? loader_code : loader_data;
  if (const Status status = loader.services.allocate_pages(type, kind, pages, &found); status != 0) {
    return Error::of(ErrorCode::out_of_memory, "expected ", bytes, " bytes of memory ",
                     type == AllocateType::at ? "at " : "below ", Hexadecimal{address}, ", found status ",
                     Hexadecimal{status});
  }
  return reinterpret_cast<std::byte*>(found);
}

Result<void> open_volume(Loader& loader) {
  LoadedImage* image = nullptr;
  FileSystem* files = nullptr;
  Status status = loader.services.handle_protocol(loader.image, &LoadedImage::guid, reinterpret_cast<void**>(&image));
  if (status == 0) {
    status = loader.services.handle_protocol(image->device, &FileSystem::guid, reinterpret_cast<void**>(&files));
  }
  if (status == 0) status = files->open_volume(files, &loader.volume);
  if (status != 0) return failure("a volume with files where this program came from", status);
  return {};
}

// The whole file, a zero behind it; or nothing where there is no such file.
Result<std::span<const std::byte>> read_file(Loader& loader, const char16_t* name, std::uint64_t limit) {
  constexpr std::uint64_t reading = 1, to_the_end = ~std::uint64_t{0};
  File* file = nullptr;
  if (loader.volume->open(loader.volume, &file, name, reading, 0) != 0) return std::span<const std::byte>();
  std::uint64_t bytes = 0;
  Status status = file->set_position(file, to_the_end);
  if (status == 0) status = file->get_position(file, &bytes);
  if (status == 0) status = file->set_position(file, 0);
  if (status != 0) return failure("the size of a file", status);
  std::byte* memory = TRY(allocate(loader, AllocateType::below, limit, bytes + 1));
  std::uint64_t read = bytes;
  status = file->read(file, &read, memory);
  if (status != 0 || read != bytes) return failure("to read a file to its end", status);
  memory[bytes] = std::byte{0};
  return std::span<const std::byte>(memory, bytes);
}

// A cast image's parts to wherever there is room, at the alignment that large pages need.
Result<void> load_parts(Loader& loader, const ElfFile& elf, ImageParts& parts) {
  for (std::size_t index = 0; index < elf.segment_count(); ++index) {
    const ElfSegment segment = elf.segment(index);
    if (!parts.contains(segment)) continue;
    const std::span<const std::byte> content = elf.bytes_of(segment);
    const std::uint64_t bytes = round_up(content.size(), page_bytes), slack = ImageTable::segment_alignment;
    const std::byte* room = TRY(allocate(loader, AllocateType::below, UINT64_MAX, bytes + slack));
    const std::uint64_t address = round_up(reinterpret_cast<std::uint64_t>(room), slack);
    auto* memory = reinterpret_cast<std::byte*>(address);
    __builtin_memcpy(memory, content.data(), content.size());
    __builtin_memset(memory + content.size(), 0, bytes - content.size());
    parts.move(segment, address);
  }
  parts.write_table();
  return {};
}

// To the physical addresses that the file names: each segment by itself, for firmware may sit between them. Returns the
// address of the entry.
Result<std::uint64_t> load_kernel(Loader& loader) {
  const std::span<const std::byte> file = TRY(read_file(loader, u"\\ingot\\kernel", UINT64_MAX));
  if (file.empty()) return Error::of(ErrorCode::not_found, "expected the file \\ingot\\kernel, found none");
  const ElfFile elf = TRY(ElfFile::create(file, ElfMachine::x86_64));
  ImageParts parts(elf);
  std::uint64_t entry = 0;
  for (std::size_t index = 0; index < elf.segment_count(); ++index) {
    const ElfSegment segment = elf.segment(index);
    if (segment.kind != ElfSegment::loadable || segment.memory_bytes == 0 || parts.contains(segment)) continue;
    const std::uint64_t begin = round_down(segment.physical_address, page_bytes);
    const std::uint64_t bytes = segment.physical_address + segment.memory_bytes - begin;
    std::byte* memory = TRY(allocate(loader, AllocateType::at, begin, bytes));
    __builtin_memset(memory, 0, bytes);
    const std::span<const std::byte> content = elf.bytes_of(segment);
    __builtin_memcpy(memory + (segment.physical_address - begin), content.data(), content.size());
    const std::uint64_t offset = elf.entry() - segment.address;
    if (offset < content.size()) entry = segment.physical_address + offset;
  }
  TRY(load_parts(loader, elf, parts));
  if (entry != 0 && entry < kernel_reaches) return entry;
  return Error::of(ErrorCode::corrupt, "expected an entry in a segment below 1 GiB, found ", Hexadecimal{elf.entry()});
}

void find_framebuffer(Loader& loader, UefiHandover& handover) {
  GraphicsOutput* output = nullptr;
  if (loader.services.locate_protocol(&GraphicsOutput::guid, nullptr, reinterpret_cast<void**>(&output)) != 0) return;
  const GraphicsMode& mode = *output->mode->information;
  constexpr std::uint32_t last_of_four_bytes = 1;
  if (mode.format > last_of_four_bytes) return;
  handover.framebuffer = output->mode->framebuffer;
  handover.width = mode.width;
  handover.height = mode.height;
  handover.pitch = mode.pixels_per_line * 4;
  handover.bits_per_pixel = 32;
}

std::uint64_t draw_entropy(Loader& loader) {
  RandomNumbers* numbers = nullptr;
  std::uint64_t drawn = 0;
  const auto place = reinterpret_cast<void**>(&numbers);
  if (loader.services.locate_protocol(&RandomNumbers::guid, nullptr, place) != 0) return 0;
  return numbers->get(numbers, nullptr, sizeof drawn, &drawn) == 0 ? drawn : 0;
}

std::uint64_t find_acpi_root(const SystemTable& system) {
  std::uint64_t root = 0;
  for (std::uint64_t index = 0; index < system.table_count; ++index) {
    const ConfigurationTable& entry = system.tables[index];
    const auto address = reinterpret_cast<std::uint64_t>(entry.table);
    if (__builtin_memcmp(&entry.guid, &acpi_2_table, sizeof(Guid)) == 0) return address;  // knows more than the first
    if (__builtin_memcmp(&entry.guid, &acpi_1_table, sizeof(Guid)) == 0) root = address;
  }
  return root;
}

Result<UefiHandover*> describe_machine(Loader& loader) {
  std::byte* memory = TRY(allocate(loader, AllocateType::below, kernel_reaches - 1, sizeof(UefiHandover)));
  auto* handover = new (memory) UefiHandover{};
  handover->magic = UefiHandover::expected_magic;
  const auto options = TRY(read_file(loader, u"\\ingot\\options", kernel_reaches - 1));
  static constexpr char none[] = "";
  handover->command_line =
      reinterpret_cast<std::uint64_t>(options.empty() ? reinterpret_cast<const std::byte*>(none) : options.data());
  const auto initramfs = TRY(read_file(loader, u"\\ingot\\initramfs", UINT64_MAX));
  handover->initramfs = reinterpret_cast<std::uint64_t>(initramfs.data());
  handover->initramfs_bytes = initramfs.size();
  handover->acpi_root = find_acpi_root(loader.system);
  handover->entropy = draw_entropy(loader);
  find_framebuffer(loader, *handover);
  return handover;
}

// The last memory map is the one that ExitBootServices accepts: whatever allocates makes it old.
Result<void> leave_firmware(Loader& loader, UefiHandover& handover) {
  constexpr std::uint64_t capacity = 64 * 1024;
  std::byte* map = TRY(allocate(loader, AllocateType::below, kernel_reaches - 1, capacity));
  handover.memory_map = reinterpret_cast<std::uint64_t>(map);
  Status status = 0;
  for (int tries = 0; tries < 2; ++tries) {
    std::uint64_t key = 0;
    std::uint32_t version = 0;
    handover.memory_map_bytes = capacity;
    status =
        loader.services.get_memory_map(&handover.memory_map_bytes, map, &key, &handover.descriptor_bytes, &version);
    if (status != 0) return failure("a memory map of at most 64 KiB", status);
    status = loader.services.exit_boot_services(loader.image, key);
    if (status == 0) return {};
  }
  return failure("the firmware to leave", status);
}

Result<void> boot(Loader& loader) {
  TRY(open_volume(loader));
  const std::uint64_t entry = TRY(load_kernel(loader));
  UefiHandover* handover = TRY(describe_machine(loader));
  TRY(leave_firmware(loader, *handover));
  using Entry = void(UefiHandover*);
  reinterpret_cast<Entry*>(entry)(handover);
  __builtin_unreachable();
}

void print(const SystemTable& system, std::string_view text) {
  for (const char letter : text) {
    const char16_t one[] = {static_cast<char16_t>(letter), 0};
    system.output->output_string(system.output, one);
  }
}

}  // namespace

extern "C" [[gnu::ms_abi]] Status efi_main(Handle image, SystemTable* system) {
  Loader loader{image, *system};
  const Result<void> booted = boot(loader);
  print(*system, "ingot: ");
  print(*system, booted.error().text());
  print(*system, "\r\n");
  constexpr std::uint64_t five_seconds = 5'000'000;
  system->boot_services->stall(five_seconds);
  constexpr Status load_error = std::uint64_t{1} << 63 | 1;
  return load_error;
}

}  // namespace ingot::os::uefi
