#include "accelerator/client_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>

#include "machine/accelerator/shared_memory.h"

namespace ingot {
namespace {

// On either side: what reaches a little too far is found out. What reaches further is refused before it runs.
constexpr std::size_t guard_bytes = std::size_t{64} << 10;
constexpr std::size_t huge_page = std::size_t{2} << 20;

void release(const accelerator::ClientRange& range) {
  ::munmap(std::bit_cast<std::byte*>(range.home) - guard_bytes, range.bytes + 2 * guard_bytes);
}

}  // namespace

ClientMemory::~ClientMemory() {
  for (std::size_t i = 0; i < ranges_.count(); ++i) release(ranges_[i]);
}

namespace {

// A file that is only read may be anybody's: where its owner makes it shorter, its client has no worker any more.
Result<std::uint64_t> bytes_of(const Descriptor& memory, bool writable) {
  if (writable) return sealed_bytes(memory.get());
  const off_t end = ::lseek(memory.get(), 0, SEEK_END);
  if (end < 0) return refused("ask for the size of a client's file");
  return align_up(static_cast<std::uint64_t>(end), accelerator::page_bytes);
}

}  // namespace

Result<void> ClientMemory::map(const Descriptor& memory, const accelerator::Command& command) {
  const std::uint64_t found = TRY(bytes_of(memory, command.writable));
  if (command.offset + command.bytes > found) {
    return Error::of(ErrorCode::out_of_range, "expected a memory of at least ", command.offset + command.bytes,
                     " bytes, found ", found);
  }
  const std::size_t reserved_bytes = command.bytes + 2 * guard_bytes;
  void* const reserved = ::mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return refused("reserve addresses for a client's memory");
  std::byte* const home = static_cast<std::byte*>(reserved) + guard_bytes;
  const int rights = PROT_READ | (command.writable ? PROT_WRITE : 0);
  const accelerator::ClientRange range = {command.address, command.bytes, reinterpret_cast<std::uintptr_t>(home),
                                          command.writable};
  if (::mmap(home, command.bytes, rights, MAP_SHARED | MAP_FIXED, memory.get(), static_cast<off_t>(command.offset)) ==
      MAP_FAILED) {
    const Error error = refused("map a client's memory");
    release(range);
    return error;
  }
  if (command.bytes >= huge_page) ::madvise(home, command.bytes, MADV_HUGEPAGE);  // best effort
  const Result<void> added = ranges_.add(range);
  if (!added.ok()) {
    release(range);
    return added;
  }
  bytes_ += command.bytes;
  return {};
}

Result<accelerator::ClientRange> ClientMemory::unmap(std::uint64_t begin) {
  const accelerator::ClientRange range = TRY(ranges_.remove(begin));
  bytes_ -= range.bytes;
  release(range);
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
