// CudaDevice: a GPU by NVIDIA's driver. It must outlive its memory, queues and all else that was made of it.
#pragma once

#include "machine/gpu/cuda/module_cache.h"
#include "machine/gpu/cuda/owned.h"
#include "machine/gpu/device.h"

namespace ingot {

class CudaDevice final : public Device {
 public:
  static Result<std::unique_ptr<CudaDevice>> create(const cuda::Driver& driver, int index);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceInformation& information() const override { return information_; }
  Result<DeviceMemoryState> memory_state() override;
  Result<DeviceMemory> allocate(std::size_t bytes) override;
  Result<PinnedMemory> allocate_pinned(std::size_t bytes) override;
  Result<std::unique_ptr<AddressRange>> reserve(std::size_t capacity) override;
  Result<std::unique_ptr<Queue>> make_queue() override;
  // Turn 1: another queue fills memory beside what is given next, for a fraction of a millisecond.
  Result<void> disturb(int turn) override;
  int disturbances() const override { return 1; }

  const cuda::Context& context() const { return context_; }
  ModuleCache& modules() { return *modules_; }

 private:
  CudaDevice(DeviceInformation information, const cuda::Context& context);
  void release(MemoryKind kind, std::byte* data, std::size_t bytes) override;

  DeviceInformation information_;
  cuda::Context context_;
  std::unique_ptr<ModuleCache> modules_;  // unloaded before the context is released
  // What disturbs; made when it is first asked for.
  DeviceMemory neighbour_memory_;
  std::unique_ptr<Queue> neighbour_;
};

}  // namespace ingot
