// CudaAddressRange: reserved addresses of a GPU, which get memory in whole granules.
#pragma once

#include <bit>

#include "machine/gpu/cuda/cuda_device.h"

namespace ingot {

class CudaAddressRange final : public AddressRange {
 public:
  static Result<std::unique_ptr<CudaAddressRange>> reserve(CudaDevice& device, std::size_t capacity);
  CudaAddressRange(const CudaAddressRange&) = delete;
  CudaAddressRange& operator=(const CudaAddressRange&) = delete;
  ~CudaAddressRange() override;

  Result<void> grow_to(std::size_t bytes) override;

  std::byte* data() const override { return std::bit_cast<std::byte*>(base_); }
  std::size_t size() const override { return mapped_; }
  std::size_t capacity() const override { return capacity_; }
  std::size_t granule() const { return granule_; }

 private:
  CudaAddressRange() = default;
  Result<void> map(std::size_t bytes);

  const cuda::Context* context_ = nullptr;
  cuda::Address base_ = 0;
  std::size_t capacity_ = 0;
  std::size_t granule_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace ingot
