#include "machine/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "machine/huge_pages.h"

namespace ingot {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

// Not an Error: a refused kind of mapping is where the next kind is tried.
std::byte* map(std::size_t size, int further_flags) {
  void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | further_flags, -1, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

std::byte* align(std::byte* address, std::size_t alignment) {
  auto number = reinterpret_cast<std::uintptr_t>(address);
  return address + (align_up(number, alignment) - number);
}

}  // namespace

std::string_view name_of(PageBacking backing) {
  switch (backing) {
    case PageBacking::ordinary: return "ordinary";
    case PageBacking::transparent_huge: return "transparent_huge";
    case PageBacking::explicit_huge: return "explicit_huge";
  }
  return "unknown backing";
}

Result<Memory> Memory::allocate(Bytes size, std::size_t alignment) {
  if (!std::has_single_bit(alignment) || alignment > huge_page) {
    return Error::of(ErrorCode::invalid_argument, "expected an alignment that is a power of two up to ", huge_page,
                     ", found ", alignment);
  }
  // Half the address range leaves room for rounding up below, and no machine maps more to one process.
  constexpr std::uint64_t most_bytes = std::numeric_limits<std::ptrdiff_t>::max() / 2;
  if (size.count() > most_bytes) {
    return Error::of(ErrorCode::overflow, "expected at most ", most_bytes, " bytes of memory, found ", size.count());
  }
  Memory memory;
  memory.size_ = static_cast<std::size_t>(size.count());
  if (memory.size_ == 0) return memory;

  bool large = memory.size_ >= huge_page;
  if (large) {
    constexpr int two_mebibytes = 21 << MAP_HUGE_SHIFT;
    memory.mapping_size_ = align_up(memory.size_, huge_page);
    memory.mapping_ = map(memory.mapping_size_, MAP_HUGETLB | two_mebibytes);
    if (memory.mapping_ != nullptr) {
      memory.data_ = memory.mapping_;
      memory.backing_ = PageBacking::explicit_huge;
      return memory;
    }
    alignment = huge_page;
  }

  // mmap aligns to its page; for more, map more and start inside. Pages never touched cost nothing.
  auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t rounded = align_up(memory.size_, large ? huge_page : page);
  memory.mapping_size_ = rounded + (alignment > page ? alignment : 0);
  memory.mapping_ = map(memory.mapping_size_, 0);
  if (memory.mapping_ == nullptr) {
    return Error::of(ErrorCode::out_of_memory, "expected ", size.count(),
                     " bytes of memory, found: ", std::strerror(errno));
  }
  memory.data_ = align(memory.mapping_, alignment);
  if (large && madvise(memory.data_, rounded, MADV_HUGEPAGE) == 0 && transparent_huge_pages_granted()) {
    memory.backing_ = PageBacking::transparent_huge;
  }
  return memory;
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_size_(std::exchange(other.mapping_size_, 0)),
      backing_(std::exchange(other.backing_, PageBacking::ordinary)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  Memory taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(mapping_, taken.mapping_);
  std::swap(mapping_size_, taken.mapping_size_);
  std::swap(backing_, taken.backing_);
  return *this;
}

Memory::~Memory() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_size_);
}

}  // namespace ingot
