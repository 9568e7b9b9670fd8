// What sockets need around them where there is no kernel: a CPU whose thread holds their locks, a clock, and who calls
// ioctl.
#pragma once

#include "os/arch/arch.h"
#include "os/file/control_caller.h"
#include "os/file/file_description.h"
#include "os/file/volume.h"
#include "os/schedule/scheduler.h"

namespace ingot::os::network {

// Locks want a thread to be held by.
struct OneProcessor {
  OneProcessor() { become_current(); }
  ~OneProcessor() { arch::hosted::thread.header = nullptr; }
  // Of the host's thread that calls.
  void become_current() { arch::set_current_cpu(processor); }
  Processor processor{0};
};

struct StillTime final : TimeSource {
  Nanoseconds monotonic() override { return {}; }
  Nanoseconds realtime() override { return {}; }
};

struct KernelCaller final : ControlCaller {
  TransferMemory& memory() override { return memory_; }
  Process* process() override { return nullptr; }
  UserThread* thread() override { return nullptr; }
  Answer<std::int32_t> give(Reference<FileDescription>, OnExecute) override { return Errno::emfile; }
  void take_back(std::int32_t) override {}
  Answer<void> wait(PollSource&, Condition&, std::optional<Nanoseconds>) override { return Errno::etimedout; }
  KernelTransferMemory memory_;
};

}  // namespace ingot::os::network
