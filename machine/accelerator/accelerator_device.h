// AcceleratorDevice: an accelerator's worker as a device. Its memory is this process's as well, so copies between the
// two are plain ones; its queue takes contracts, as bytes, in the place of functions.
#pragma once

#include "machine/accelerator/accelerator_queue.h"
#include "machine/gpu/device.h"

namespace ingot {

class AcceleratorDevice final : public Device {
 public:
  // Of the path of a broker's socket; of none, the machine's own, through its kernel's node.
  static Result<std::unique_ptr<AcceleratorDevice>> open(const std::string& path);
  static std::unique_ptr<AcceleratorDevice> over(std::unique_ptr<AcceleratorClient> client, std::string name);

  const accelerator::Identity& identity() const { return client_->identity(); }

  const DeviceInformation& information() const override { return information_; }
  Result<DeviceMemoryState> memory_state() override;
  Result<DeviceMemory> allocate(std::size_t bytes) override;
  Result<PinnedMemory> allocate_pinned(std::size_t bytes) override;
  Result<std::unique_ptr<AddressRange>> reserve(std::size_t capacity) override;
  Result<std::unique_ptr<Queue>> make_queue() override;
  Result<std::unique_ptr<AcceleratorQueue>> make_accelerator_queue();
  Result<std::unique_ptr<LentMemory>> lend(const LentFile& file) override;
  bool is_lost() const override { return client_->is_lost(); }
  // What may differ from run to run is how the worker's threads share the work, and that differs by itself.
  Result<void> disturb(int turn) override;
  int disturbances() const override { return 1; }

 private:
  AcceleratorDevice(std::unique_ptr<AcceleratorClient> client, std::string name);
  void release(MemoryKind kind, std::byte* data, std::size_t bytes) override;

  std::unique_ptr<AcceleratorClient> client_;
  SharedHeap heap_;
  DeviceInformation information_;
};

// "accelerator:/run/user/1000/ingot" names the path of one's socket, "accelerator" the machine's own, of no path; null
// where it is no such name.
std::optional<std::string> accelerator_path(std::string_view device);

}  // namespace ingot
