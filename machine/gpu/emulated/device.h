// EmulatedDevice: a device that the host plays, of compute capability 8.0. It runs what device sources mean, not how
// fast: their parity, their barriers and their bounds are proved where there is no other device, under the sanitizers
// too.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "machine/gpu/device.h"
#include "machine/gpu/emulated/order.h"
#include "machine/guarded_memory.h"

namespace ingot {

struct EmulatedDeviceOptions {
  std::size_t memory_bytes = std::size_t{2} << 30;
  int order = 0;  // in which threads and blocks run: 0 to 7, see machine/gpu/emulated/order.h
};

class EmulatedDevice final : public Device {
 public:
  static Result<std::unique_ptr<EmulatedDevice>> create(const EmulatedDeviceOptions& options = {});
  ~EmulatedDevice() override;

  const DeviceInformation& information() const override { return information_; }
  Result<DeviceMemoryState> memory_state() override;
  Result<DeviceMemory> allocate(std::size_t bytes) override;
  Result<PinnedMemory> allocate_pinned(std::size_t bytes) override;
  // All of its memory is taken at once: what is proved here is not how it grows.
  Result<std::unique_ptr<AddressRange>> reserve(std::size_t capacity) override;
  Result<std::unique_ptr<Queue>> make_queue() override;

  // Turns are other orders.
  Result<void> disturb(int turn) override {
    set_order(turn);
    return {};
  }
  int disturbances() const override { return emulated::order_count - 1; }

  // For launches from now on. Precondition: 0 to 7.
  void set_order(int order) { order_ = order; }
  int order() const { return order_; }

  // Where all memory of the device lies: for a GuardWatch, which makes a report of an access outside.
  GuardedMemory& guarded_memory() { return memory_; }

  // For queues: the first failure of any of them is that of the device.
  void keep_failure(const Error& error);
  std::optional<Error> failure() const;
  Result<void> require_within_memory(const std::byte* data, std::size_t bytes) const;
  // What a launch wrote shortly behind the end of a piece; further behind it has faulted.
  Result<void> require_whole_tails() const;

 private:
  struct Piece {
    GuardedMemory::Piece memory;
    std::size_t bytes;
    std::span<std::byte> tail(std::byte* data) const;
  };
  explicit EmulatedDevice(const EmulatedDeviceOptions& options);
  void release(MemoryKind kind, std::byte* data, std::size_t bytes) override;

  DeviceInformation information_;
  int order_;
  mutable std::mutex mutex_;
  GuardedMemory memory_;
  std::map<const std::byte*, Piece> pieces_;
  std::size_t used_bytes_ = 0;
  std::optional<Error> failure_;
};

}  // namespace ingot
