// Device: one accelerator, with memory of its own and queues of work. `cuda` and `cuda:N` are those of the machine's
// driver; `emulated` is one that the host's threads play, for proofs where there is no other.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "machine/features.h"
#include "machine/gpu/queue.h"

namespace ingot {

struct DeviceInformation {
  std::string name;  // "NVIDIA H200"
  std::string uuid;
  int index = 0;
  int capability = 0;  // 90 for compute capability 9.0
  int multiprocessors = 0;
  std::size_t level2_bytes = 0;
  std::size_t memory_bytes = 0;
  int driver_version = 0;  // 13000 for CUDA 13.0
  FeatureSet features;
  bool is_emulated = false;
  bool takes_calls = false;  // whole calls of contracts, and no functions: then its features are those of a CPU
};

class Device;

enum class MemoryKind : std::uint8_t { on_device, pinned };

// Memory that a device gave and takes back.
template <MemoryKind kind>
class OwnedMemory {
 public:
  OwnedMemory() = default;
  OwnedMemory(Device& device, std::byte* data, std::size_t bytes) : device_(&device), data_(data), bytes_(bytes) {}
  OwnedMemory(OwnedMemory&& other) noexcept { swap(other); }
  OwnedMemory& operator=(OwnedMemory&& other) noexcept {
    OwnedMemory(std::move(other)).swap(*this);
    return *this;
  }
  ~OwnedMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void swap(OwnedMemory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Memory of a device, aligned to 256 bytes. The host must not touch it but through a queue.
using DeviceMemory = OwnedMemory<MemoryKind::on_device>;
// Memory of the host that stays where it is, so that copies to and from the device run by themselves and at full speed.
using PinnedMemory = OwnedMemory<MemoryKind::pinned>;

// Addresses of a device that are reserved once, and get memory behind them as they are used. What lies there never
// moves: what was recorded with its addresses stays right.
class AddressRange {
 public:
  virtual ~AddressRange() = default;

  // Puts memory behind the first `bytes`, or a little more. Where that fails the range is as it was.
  virtual Result<void> grow_to(std::size_t bytes) = 0;
  virtual std::byte* data() const = 0;
  virtual std::size_t size() const = 0;  // bytes with memory behind them
  virtual std::size_t capacity() const = 0;
};

struct DeviceMemoryState {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

// Memory of the host that a device reads where it lies, as long as this lives.
class LentMemory {
 public:
  virtual ~LentMemory() = default;
};

// A file that is mapped, from its first byte on.
struct LentFile {
  std::span<const std::byte> bytes;
  int descriptor = -1;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInformation& information() const = 0;
  virtual Result<DeviceMemoryState> memory_state() = 0;
  // Fails with how much was asked for and how much was free. Zero bytes are no memory, and no error.
  virtual Result<DeviceMemory> allocate(std::size_t bytes) = 0;
  virtual Result<PinnedMemory> allocate_pinned(std::size_t bytes) = 0;
  // At least `capacity` bytes of addresses, and no memory.
  virtual Result<std::unique_ptr<AddressRange>> reserve(std::size_t capacity) = 0;
  virtual Result<std::unique_ptr<Queue>> make_queue() = 0;
  // Lets the device read a file where this process has mapped it; null where it reads nothing but its own memory. The
  // bytes must stay mapped as long.
  virtual Result<std::unique_ptr<LentMemory>> lend(const LentFile&) { return std::unique_ptr<LentMemory>(); }

  // Whether it was lost, for ever: whoever has it can do no more than end, and say so.
  virtual bool is_lost() const { return false; }

  // Makes what must never matter to another: which of the threads comes first, what runs beside. Turn 0 is as usual.
  virtual Result<void> disturb(int turn) = 0;
  virtual int disturbances() const = 0;  // how many turns differ from turn 0

 private:
  template <MemoryKind kind>
  friend class OwnedMemory;
  virtual void release(MemoryKind kind, std::byte* data, std::size_t bytes) = 0;
};

template <MemoryKind kind>
OwnedMemory<kind>::~OwnedMemory() {
  if (data_ != nullptr) device_->release(kind, data_, bytes_);
}

// Whether it is one of "cuda", "cuda:1" and the like, and "emulated"; else what was expected.
Result<void> check_device_name(std::string_view name);

// Of such a name. Fails with what was expected, found and to do: no driver, one that is too old, no
// such device, a chip below compute capability 8.0, a program that carries no device code.
Result<std::unique_ptr<Device>> open_device(std::string_view name);

}  // namespace ingot
