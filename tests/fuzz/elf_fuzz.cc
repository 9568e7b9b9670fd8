// Any bytes are an ELF file whose segments can be loaded, or an error.
#include <cstdlib>

#include "os/boot/elf.h"

using namespace ingot;
using namespace ingot::os;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<ElfFile> elf = ElfFile::create(std::as_bytes(std::span(data, size)), ElfMachine::x86_64);
  if (!elf.ok()) return elf.error().text().empty() ? std::abort(), 0 : 0;
  std::uint64_t end = 0, sum = 0;
  for (std::size_t index = 0; index < elf.value().segment_count(); ++index) {
    const ElfSegment segment = elf.value().segment(index);
    const std::span<const std::byte> bytes = elf.value().bytes_of(segment);
    if (!bytes.empty()) sum += std::to_integer<unsigned>(bytes.front()) + std::to_integer<unsigned>(bytes.back());
    if (segment.kind != ElfSegment::loadable) continue;
    if (segment.address < end || segment.memory_bytes < bytes.size()) std::abort();
    end = segment.address + segment.memory_bytes;
    if (end < segment.address) std::abort();
  }
  return sum == ~std::uint64_t{0} ? std::abort(), 0 : 0;  // keeps the reads
}
