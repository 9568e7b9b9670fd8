#include "machine/gpu/emulated/device.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/units.h"
#include "machine/gpu/emulated/order.h"
#include "machine/gpu/emulated/queue.h"
#include "machine/gpu/emulated/tail.h"

namespace ingot {
namespace {

constexpr std::size_t alignment = 256;
// What memory holds at first, on a device left by others: here NaNs, and indices far outside of everything.
constexpr int poison = 0xff;

class EmulatedAddressRange final : public AddressRange {
 public:
  explicit EmulatedAddressRange(DeviceMemory memory) : memory_(std::move(memory)) {}
  Result<void> grow_to(std::size_t bytes) override {
    if (bytes > capacity()) {
      return Error::of(ErrorCode::out_of_range, "expected at most ", capacity(), " bytes, which were reserved, found ",
                       bytes);
    }
    used_ = std::max(used_, bytes);
    return {};
  }
  std::byte* data() const override { return memory_.data(); }
  std::size_t size() const override { return used_; }
  std::size_t capacity() const override { return memory_.size(); }

 private:
  DeviceMemory memory_;
  std::size_t used_ = 0;
};

}  // namespace

Result<std::unique_ptr<EmulatedDevice>> EmulatedDevice::create(const EmulatedDeviceOptions& options) {
  if (options.order < 0 || options.order >= emulated::order_count) {
    return Error::of(ErrorCode::invalid_argument, "expected an order of an emulated device from 0 to ",
                     emulated::order_count - 1, ", found ", options.order);
  }
  return std::unique_ptr<EmulatedDevice>(new EmulatedDevice(options));
}

EmulatedDevice::EmulatedDevice(const EmulatedDeviceOptions& options) : order_(options.order) {
  information_.name = "emulated";
  information_.capability = 80;
  information_.multiprocessors = 1;
  information_.memory_bytes = options.memory_bytes;
  information_.features = {Feature::sm_80};
  information_.is_emulated = true;
}

EmulatedDevice::~EmulatedDevice() {
  if (!pieces_.empty()) __builtin_trap();  // memory must not outlive its device
}

std::span<std::byte> EmulatedDevice::Piece::tail(std::byte* data) const {
  return {data + bytes, memory.bytes().data() + memory.bytes().size()};
}

Result<DeviceMemoryState> EmulatedDevice::memory_state() {
  const std::lock_guard lock(mutex_);
  return DeviceMemoryState{information_.memory_bytes - used_bytes_, information_.memory_bytes};
}

Result<DeviceMemory> EmulatedDevice::allocate(std::size_t bytes) {
  if (bytes == 0) return DeviceMemory();
  const std::lock_guard lock(mutex_);
  const std::size_t free_bytes = information_.memory_bytes - used_bytes_;
  if (bytes > free_bytes) {
    return Error::of(ErrorCode::out_of_memory, "expected ", bytes, " bytes of the emulated device's memory, found ",
                     free_bytes, " of ", information_.memory_bytes, " free");
  }
  Piece piece = {TRY(memory_.take(bytes)), bytes};
  // As far back as the alignment allows, so that what lies behind is the guard.
  std::byte* data = piece.memory.bytes().data() + piece.memory.bytes().size() - align_up(bytes, alignment);
  std::memset(data, poison, bytes);
  emulated::close_tail(piece.tail(data));
  used_bytes_ += bytes;
  pieces_.emplace(data, std::move(piece));
  return DeviceMemory(*this, data, bytes);
}

Result<PinnedMemory> EmulatedDevice::allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return PinnedMemory();
  return PinnedMemory(*this, static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment})), bytes);
}

Result<std::unique_ptr<AddressRange>> EmulatedDevice::reserve(std::size_t capacity) {
  return std::unique_ptr<AddressRange>(new EmulatedAddressRange(TRY(allocate(capacity))));
}

void EmulatedDevice::release(MemoryKind kind, std::byte* data, std::size_t bytes) {
  if (kind == MemoryKind::pinned) {
    ::operator delete(data, std::align_val_t{alignment});
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(data);
  if (found == pieces_.end()) __builtin_trap();
  emulated::open_tail(found->second.tail(data));
  used_bytes_ -= bytes;
  pieces_.erase(found);
}

Result<std::unique_ptr<Queue>> EmulatedDevice::make_queue() {
  return std::unique_ptr<Queue>(TRY(emulated::EmulatedQueue::create(*this)));
}

void EmulatedDevice::keep_failure(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = error;
}

std::optional<Error> EmulatedDevice::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Result<void> EmulatedDevice::require_within_memory(const std::byte* data, std::size_t bytes) const {
  if (bytes == 0) return {};
  const std::lock_guard lock(mutex_);
  auto next = pieces_.upper_bound(data);
  if (next != pieces_.begin()) {
    const auto& [begin, piece] = *std::prev(next);
    const auto offset = static_cast<std::size_t>(data - begin);
    if (offset < piece.bytes && bytes <= piece.bytes - offset) return {};
  }
  return Error::of(ErrorCode::out_of_range, "expected ", bytes,
                   " bytes within one piece of the emulated device's memory, found some that are not");
}

Result<void> EmulatedDevice::require_whole_tails() const {
  const std::lock_guard lock(mutex_);
  for (const auto& [data, piece] : pieces_) {
    if (emulated::is_tail_whole(piece.tail(const_cast<std::byte*>(data)))) continue;
    return Error::of(ErrorCode::out_of_range, "expected nothing written behind the end of a piece of ", piece.bytes,
                     " bytes of memory, found that something was");
  }
  return {};
}

}  // namespace ingot
