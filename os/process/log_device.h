// LogDevice: /dev/kmsg, the kernel's log for a program that was granted it. Each line that is written becomes one
// there.
#pragma once

#include "os/file/synthetic/dev_directory.h"
#include "os/trace/log.h"

namespace ingot::os {

class LogDevice final : public DeviceOpener {
 public:
  static constexpr std::string_view right = "kmsg";
  static constexpr std::uint32_t major = 1, minor = 11;  // as on Linux

  LogDevice(Log& log, Allocator& heap) : log_(log), heap_(heap) {}
  Answer<Reference<FileDescription>> open(Node& node, std::uint32_t flags) override;

 private:
  Log& log_;
  Allocator& heap_;
};

}  // namespace ingot::os
