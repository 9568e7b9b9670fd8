// Log sinks that need no driver: the debug port of emulators, and the first serial port.
#pragma once

#include <string_view>

#include "os/trace/log.h"

namespace ingot::os {

// QEMU's isa-debugcon: each byte written to the port appears on the host.
class DebugPort final : public LogSink {
 public:
  static bool present();
  void write_line(std::string_view line) override;
};

// COM1, by polling. It belongs to the hosted program; tests and panics borrow it.
class SerialPort final : public LogSink {
 public:
  static void initialise();
  void write_line(std::string_view line) override;
};

}  // namespace ingot::os
