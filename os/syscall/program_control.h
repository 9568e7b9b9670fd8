// ProgramControl: the caller of an ioctl, where a program's thread is it.
#pragma once

#include "os/file/control_caller.h"
#include "os/syscall/file_arguments.h"
#include "os/syscall/file_wait.h"

namespace ingot::os {

class ProgramControl final : public ControlCaller {
 public:
  explicit ProgramControl(Caller& caller) : caller_(caller) {}

  TransferMemory& memory() override { return memory_; }
  Process* process() override { return &caller_.process; }
  UserThread* thread() override { return &caller_.thread; }
  Answer<std::int32_t> give(Reference<FileDescription> file, OnExecute on_execute) override {
    return files_of(caller_).descriptors().add(std::move(file), on_execute);
  }
  void take_back(std::int32_t descriptor) override {
    static_cast<void>(files_of(caller_).descriptors().close(descriptor));  // the program may have closed it already
  }

 private:
  Answer<void> wait(PollSource& source, Condition& condition, std::optional<Nanoseconds> deadline) override {
    FileWait wait(caller_.thread);
    FileWait::Place place;
    place.join(wait, &source);
    while (!condition.holds()) {
      const Answer<void> slept = wait.sleep(deadline);
      if (!slept.ok()) return condition.holds() ? Answer<void>() : slept.error();
    }
    return {};
  }

  Caller& caller_;
  UserTransferMemory memory_;
};

}  // namespace ingot::os
