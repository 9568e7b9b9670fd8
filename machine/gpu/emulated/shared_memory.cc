#include "machine/gpu/emulated/shared_memory.h"

#include <cstring>
#include <utility>

#include "machine/gpu/emulated/tail.h"

namespace ingot::emulated {
namespace {

// Of floats, halves and doubles: a NaN. Of indices: far outside of everything.
constexpr int poison = 0xff;

}  // namespace

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) open_tail(piece_.bytes());
}

Result<void> SharedMemory::begin_launch(std::size_t bytes) {
  if (data_ != nullptr && bytes == bytes_) return {};
  if (data_ != nullptr) open_tail(piece_.bytes());
  data_ = nullptr;
  bytes_ = bytes;
  if (bytes == 0) return {};
  piece_ = TRY(memory_.take(bytes));
  // As far back as an alignment to 16 bytes allows, so that what lies behind is the guard.
  std::byte* end = piece_.bytes().data() + piece_.bytes().size();
  data_ = end - (bytes + 15) / 16 * 16;
  close_tail({data_ + bytes, end});
  return {};
}

void SharedMemory::begin_block() {
  if (bytes_ > 0) std::memset(data_, poison, bytes_);
}

bool SharedMemory::is_tail_whole() const {
  if (data_ == nullptr) return true;
  const std::byte* end = piece_.bytes().data() + piece_.bytes().size();
  return emulated::is_tail_whole({data_ + bytes_, end});
}

}  // namespace ingot::emulated
