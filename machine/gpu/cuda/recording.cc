#include "machine/gpu/cuda/recording.h"

namespace ingot {

using cuda::DriverFunctions;

Result<std::unique_ptr<CudaRecording>> CudaRecording::instantiate(const cuda::Context& context,
                                                                  cuda::GraphHandle captured) {
  cuda::ExecutableHandle executable = nullptr;
  TRY(context.call(&DriverFunctions::graph_instantiate, &executable, captured, 0ULL));
  return std::unique_ptr<CudaRecording>(new CudaRecording(Executable(context, executable)));
}

Result<void> CudaQueue::begin_recording() {
  if (failure_) return *failure_;
  // Relaxed: a module that is loaded, or memory that another thread takes, while this queue is captured is no mistake.
  TRY(device_.context().call(&DriverFunctions::capture_begin, stream(), cuda::CaptureMode::relaxed));
  is_recording_ = true;
  return {};
}

Result<std::unique_ptr<Recording>> CudaQueue::end_recording() {
  using Template = cuda::Owned<cuda::GraphHandle, &DriverFunctions::graph_destroy>;
  is_recording_ = false;
  launches_ = 0;  // none of them ran
  const cuda::Context& context = device_.context();
  cuda::GraphHandle graph = nullptr;
  const Result<void> ended = context.release(&DriverFunctions::capture_end, stream(), &graph);
  const Template captured = graph == nullptr ? Template() : Template(context, graph);
  if (failure_) return *failure_;
  if (!ended.ok()) return ended.error();
  return std::unique_ptr<Recording>(TRY(CudaRecording::instantiate(context, captured.value())));
}

void CudaQueue::replay(const Recording& recording) {
  if (failure_) return;
  const cuda::ExecutableHandle executable = static_cast<const CudaRecording&>(recording).executable();
  note({.step = step_, .shape = {}}, device_.context().call(&DriverFunctions::graph_launch, executable, stream()));
}

}  // namespace ingot
