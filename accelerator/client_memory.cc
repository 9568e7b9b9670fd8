#include "accelerator/client_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>

#include "base/accelerator/memory_packet.h"
#include "machine/accelerator/shared_memory.h"

namespace ingot {
namespace {

// On either side: what reaches a little too far is found out. What reaches further is refused before it runs.
constexpr std::size_t guard_bytes = std::size_t{64} << 10;
constexpr std::size_t huge_page = std::size_t{2} << 20;

bool release(const accelerator::ClientRange& range) {
  return ::munmap(std::bit_cast<std::byte*>(range.home) - guard_bytes, range.bytes + 2 * guard_bytes) == 0;
}

// Each piece is a mapping of the kernel's, which allows a process some 65,000.
Result<void> place(int memory, std::span<const FilePiece> pieces, std::byte* home, bool writable) {
  const int rights = PROT_READ | (writable ? PROT_WRITE : 0);
  for (const FilePiece& piece : pieces) {
    if (::mmap(home, piece.bytes, rights, MAP_SHARED | MAP_FIXED, memory, static_cast<off_t>(piece.offset)) ==
        MAP_FAILED) {
      if (errno != ENOMEM) return refused("map a client's memory");
      return Error::of(
          ErrorCode::out_of_memory, "expected room for ", pieces.size(),
          " mappings of a client's memory, found none: a process has some 65,000, so show memory that lies "
          "in fewer pieces, or less of it");
    }
    home += piece.bytes;
  }
  return {};
}

// A file that is only read may be anybody's: where its owner makes it shorter, its client has no worker any more.
Result<std::uint64_t> bytes_of(int memory, bool writable) {
  if (writable) return sealed_bytes(memory);
  const off_t end = ::lseek(memory, 0, SEEK_END);
  if (end < 0) return refused("ask for the size of a client's file");
  return align_up(static_cast<std::uint64_t>(end), accelerator::page_bytes);
}

}  // namespace

ClientMemory::~ClientMemory() {
  for (std::size_t i = 0; i < ranges_.count(); ++i) release(ranges_[i]);
}

Result<void> ClientMemory::map(int memory, std::span<const FilePiece> pieces, std::uint64_t address, bool writable) {
  const std::uint64_t found = TRY(bytes_of(memory, writable));
  std::uint64_t bytes = 0;
  for (const FilePiece& piece : pieces) {
    if (piece.offset > found || piece.bytes > found - piece.offset) {
      return Error::of(ErrorCode::out_of_range, "expected a memory of at least ", piece.offset + piece.bytes,
                       " bytes, found ", found);
    }
    bytes += piece.bytes;
  }
  const std::size_t reserved_bytes = bytes + 2 * guard_bytes;
  void* const reserved = ::mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return refused("reserve addresses for a client's memory");
  std::byte* const home = static_cast<std::byte*>(reserved) + guard_bytes;
  const accelerator::ClientRange range = {address, bytes, reinterpret_cast<std::uintptr_t>(home), writable};
  const Result<void> placed = place(memory, pieces, home, writable);
  const Result<void> added = placed.ok() ? ranges_.add(range) : placed;
  if (!added.ok()) {
    release(range);
    return added;
  }
  if (bytes >= huge_page) ::madvise(home, bytes, MADV_HUGEPAGE);  // best effort
  bytes_ += bytes;
  return {};
}

Result<accelerator::ClientRange> ClientMemory::unmap(std::uint64_t begin) {
  const accelerator::ClientRange range = TRY(ranges_.remove(begin));
  bytes_ -= range.bytes;
  // Who is told that it is gone uses it for something else.
  if (!release(range)) return refused("let go of a client's memory");
  return range;
}

Result<std::byte*> ClientMemory::find(std::uint64_t begin, std::uint64_t bytes, accelerator::Access access) const {
  return std::bit_cast<std::byte*>(TRY(ranges_.find(begin, bytes, access)));
}

std::optional<std::uint64_t> ClientMemory::clients_address(const void* ours) const {
  const auto address = reinterpret_cast<std::uintptr_t>(ours);
  for (std::size_t i = 0; i < ranges_.count(); ++i) {
    if (address - ranges_[i].home < ranges_[i].bytes) return ranges_[i].begin + (address - ranges_[i].home);
  }
  return std::nullopt;
}

}  // namespace ingot
