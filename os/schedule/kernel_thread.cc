#include "os/schedule/kernel_thread.h"

#include <memory>

#include "os/boot/kernel.h"

namespace ingot::os {

// At the low end of its own stack, until there is a heap.
struct KernelThread::Record {
  Record(Kernel& owner, FrameNumber stack, std::string_view name, ThreadBody what)
      : kernel(owner), frames(stack), thread(name), body(what) {}

  [[noreturn]] static void enter(void* argument) {
    const Record& record = *static_cast<Record*>(argument);
    current_scheduler().begin_thread();
    record.body.call(record.body.function, record.body.argument);
    current_scheduler().exit();
  }

  Kernel& kernel;
  FrameNumber frames;
  Thread thread;
  ThreadBody body;
};

static constexpr unsigned stack_order = 2;

Result<KernelThread> KernelThread::start(Kernel& kernel, std::string_view name, ThreadBody body) {
  const FrameNumber frames =
      TRY(kernel.frames->with([](FrameAllocator& allocator) { return allocator.allocate(stack_order); }));
  auto* bottom = kernel.platform.window().at<std::byte>(frames);
  Record& record = *std::construct_at(reinterpret_cast<Record*>(bottom), kernel, frames, name, body);
  const VirtualAddress top = name == "main" ? kernel.platform.first_stack()
                                            : VirtualAddress(reinterpret_cast<std::uint64_t>(bottom + stack_bytes));
  record.thread.saved_context = arch::prepare_stack(top, &Record::enter, &record);
  kernel.scheduler.start(record.thread);
  return KernelThread(record);
}

void KernelThread::join() {
  if (record_ == nullptr) return;
  Record& record = *std::exchange(record_, nullptr);
  record.thread.join();
  Kernel& kernel = record.kernel;
  const FrameNumber frames = record.frames;
  std::destroy_at(&record);
  kernel.frames->with([&](FrameAllocator& allocator) { allocator.release(frames, stack_order); });
}

void CpuMachine::notify(std::uint32_t) {}  // one CPU has nobody to call

}  // namespace ingot::os
