// CudaMark: an event of a queue.
#pragma once

#include "machine/gpu/cuda/cuda_queue.h"

namespace ingot {

class CudaMark final : public Mark {
 public:
  static Result<std::unique_ptr<CudaMark>> create(CudaQueue& queue);

  Result<void> place() override;
  Result<void> wait() override;
  Result<double> seconds_since(const Mark& earlier) override;

 private:
  using Event = cuda::Owned<cuda::EventHandle, &cuda::DriverFunctions::event_destroy>;
  CudaMark(CudaQueue& queue, Event event) : queue_(queue), event_(std::move(event)) {}

  CudaQueue& queue_;
  Event event_;
};

}  // namespace ingot
