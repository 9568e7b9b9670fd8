#include "machine/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/units.h"

namespace ingot {
namespace {

// More than a row of most matrices, so that a wrong row is seen as well as a wrong element. Addresses cost nothing.
constexpr std::size_t guard_bytes = std::size_t{256} << 10;
// Larger pieces are rare, and would keep memory that others need.
constexpr std::size_t most_kept_bytes = std::size_t{1} << 20;

}  // namespace

struct GuardedMemory::Block {
  std::byte* mapping;
  std::size_t usable;
  std::atomic<bool> has_open_guard = false;

  explicit Block(std::byte* start, std::size_t bytes) : mapping(start), usable(bytes) {}
  ~Block() { munmap(mapping, size()); }

  std::size_t size() const { return usable + 2 * guard_bytes; }
  std::byte* data() const { return mapping + guard_bytes; }
  bool holds(const void* address) const {
    return std::less_equal<>()(mapping, address) && std::less<>()(address, mapping + size());
  }
  bool is_guarded(const void* address) const {
    return holds(address) && (std::less<>()(address, data()) || std::less_equal<>()(data() + usable, address));
  }
};

GuardedMemory::Piece::Piece(Piece&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), block_(std::exchange(other.block_, nullptr)) {}

GuardedMemory::Piece& GuardedMemory::Piece::operator=(Piece&& other) noexcept {
  Piece taken(std::move(other));
  std::swap(memory_, taken.memory_);
  std::swap(block_, taken.block_);
  return *this;
}

GuardedMemory::Piece::~Piece() {
  if (block_ != nullptr) memory_->give_back(*block_);
}

std::span<std::byte> GuardedMemory::Piece::bytes() const {
  if (block_ == nullptr) return {};
  return {block_->data(), block_->usable};
}

bool GuardedMemory::Piece::is_near(const void* address) const { return block_ != nullptr && block_->holds(address); }

GuardedMemory::GuardedMemory() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {}
GuardedMemory::~GuardedMemory() = default;

Result<std::unique_ptr<GuardedMemory::Block>> GuardedMemory::map(std::size_t usable) const {
  const std::size_t size = usable + 2 * guard_bytes;
  void* mapping = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping != MAP_FAILED) {
    auto block = std::make_unique<Block>(static_cast<std::byte*>(mapping), usable);
    if (mprotect(block->data(), usable, PROT_READ | PROT_WRITE) == 0) return block;
  }
  return Error::of(ErrorCode::out_of_memory, "expected ", usable,
                   " bytes of memory between guards, found: ", std::strerror(errno));
}

Result<GuardedMemory::Piece> GuardedMemory::take(std::size_t bytes) {
  std::size_t usable = align_up(std::max<std::size_t>(bytes, 1), page_);
  if (usable <= most_kept_bytes) {
    usable = std::bit_ceil(usable);
    std::vector<Block*>& free = free_[static_cast<std::size_t>(std::countr_zero(usable))];
    if (!free.empty()) {
      Block* block = free.back();
      free.pop_back();
      return Piece(*this, *block);
    }
  }
  blocks_.push_back(TRY(map(usable)));
  return Piece(*this, *blocks_.back());
}

void GuardedMemory::give_back(Block& block) {
  if (block.usable <= most_kept_bytes) {
    free_[static_cast<std::size_t>(std::countr_zero(block.usable))].push_back(&block);
  } else {
    std::erase_if(blocks_, [&](const std::unique_ptr<Block>& each) { return each.get() == &block; });
  }
}

bool GuardedMemory::open_guard(const void* address) {
  for (const std::unique_ptr<Block>& block : blocks_) {
    if (!block->is_guarded(address)) continue;
    auto* byte = const_cast<std::byte*>(static_cast<const std::byte*>(address));
    std::byte* start = byte - reinterpret_cast<std::uintptr_t>(byte) % page_;
    block->has_open_guard = true;
    return mprotect(start, page_, PROT_READ | PROT_WRITE) == 0;
  }
  return false;
}

void GuardedMemory::close_guards() {
  for (const std::unique_ptr<Block>& block : blocks_) {
    if (!block->has_open_guard.exchange(false)) continue;
    // What was written there is still there, but no answer depends on it: a run that opens a guard has failed.
    mprotect(block->mapping, guard_bytes, PROT_NONE);
    mprotect(block->data() + block->usable, guard_bytes, PROT_NONE);
  }
}

}  // namespace ingot
