// /dev/accelerator: the accelerator as a program has it (base/accelerator/node.h).
#pragma once

#include "os/file/synthetic/dev_directory.h"
#include "os/gpu/accelerator.h"
#include "os/memory/memory_object.h"

namespace ingot::os {

class AcceleratorDevice final : public DeviceOpener {
 public:
  // Of a machine's part: how often the worker rang, and who waits for that.
  struct Bell {
    Atomic<std::uint64_t> count;
    PollSource source;
  };
  // `rings` is where the client's part of the shared memory lies.
  AcceleratorDevice(Accelerator& accelerator, Bell& bell, AcceleratorMachine& machine, PhysicalAddress rings,
                    Allocator& heap)
      : accelerator_(accelerator),
        bell_(bell),
        machine_(machine),
        rings_("accelerator", rings, accelerator::client_bytes, CacheMode::write_back),
        heap_(heap) {}

  Answer<Reference<FileDescription>> open(Node& node, std::uint32_t flags) override;

 private:
  class Opened;

  Accelerator& accelerator_;
  Bell& bell_;
  AcceleratorMachine& machine_;
  PhysicalMemory rings_;
  Allocator& heap_;
};

}  // namespace ingot::os
