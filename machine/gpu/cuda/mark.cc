#include "machine/gpu/cuda/mark.h"

namespace ingot {

using cuda::DriverFunctions;

Result<std::unique_ptr<CudaMark>> CudaMark::create(CudaQueue& queue) {
  const cuda::Context& context = queue.device().context();
  cuda::EventHandle event = nullptr;
  TRY(context.call(&DriverFunctions::event_create, &event, cuda::event_with_time));
  return std::unique_ptr<CudaMark>(new CudaMark(queue, Event(context, event)));
}

Result<void> CudaMark::place() {
  TRY(queue_.state());
  return queue_.device().context().call(&DriverFunctions::event_record, event_.value(), queue_.stream());
}

// What was not even launched is no work that the mark would wait for.
Result<void> CudaMark::wait() {
  TRY(queue_.state());
  const Result<void> passed = queue_.device().context().call(&DriverFunctions::event_wait, event_.value());
  return passed.ok() ? passed : queue_.fail(passed.error());
}

Result<double> CudaMark::seconds_since(const Mark& earlier) {
  TRY(wait());
  float milliseconds = 0;
  TRY(queue_.device().context().call(&DriverFunctions::event_milliseconds, &milliseconds,
                                     static_cast<const CudaMark&>(earlier).event_.value(), event_.value()));
  return double{milliseconds} / 1e3;
}

Result<std::unique_ptr<Mark>> CudaQueue::make_mark() { return std::unique_ptr<Mark>(TRY(CudaMark::create(*this))); }

}  // namespace ingot
