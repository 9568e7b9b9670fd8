// CudaRecording: a graph, which was captured from a queue and can be launched.
#pragma once

#include "machine/gpu/cuda/cuda_queue.h"

namespace ingot {

class CudaRecording final : public Recording {
 public:
  // Of a template that was captured.
  static Result<std::unique_ptr<CudaRecording>> instantiate(const cuda::Context& context, cuda::GraphHandle captured);

  cuda::ExecutableHandle executable() const { return executable_.value(); }

 private:
  using Executable = cuda::Owned<cuda::ExecutableHandle, &cuda::DriverFunctions::executable_destroy>;
  explicit CudaRecording(Executable executable) : executable_(std::move(executable)) {}
  Executable executable_;
};

}  // namespace ingot
