// Terminal: the program's console. COM1 both ways, with a line discipline between; input arrives by interrupt.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "os/device/line_discipline.h"
#include "os/device/serial_line.h"
#include "os/file/poll.h"
#include "os/file/synthetic/dev_directory.h"
#include "os/schedule/mutex.h"

namespace ingot::os {

struct Kernel;

// Who is told when a key means a signal. In an interrupt handler, perhaps.
class TerminalListener {
 public:
  virtual void terminal_signal(TerminalSignal signal) = 0;

 protected:
  ~TerminalListener() = default;
};

class Terminal final : public DeviceOpener {
 public:
  explicit Terminal(Kernel& kernel) : kernel_(kernel) {}
  Terminal(const Terminal&) = delete;  // the interrupt's handler points here
  Terminal& operator=(const Terminal&) = delete;
  // Once all that was written has been sent.
  ~Terminal();

  // Without a port what programs write is lost, and they wait for input forever; without an interrupt it is looked for.
  Result<void> start();

  // The program in front; nullptr: none. After it the former one is not told any more.
  void set_listener(TerminalListener* listener);

  Answer<Reference<FileDescription>> open(Node& node, std::uint32_t flags) override;

  // For open descriptions, which share all this. Neither waits: EAGAIN.
  Answer<std::size_t> read(Transfer& to);
  Answer<std::size_t> write(Transfer& from);
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, TransferMemory& memory);
  std::uint32_t poll();
  PollSource& poll_source() { return source_; }
  // When to look again for input that does not interrupt.
  bool must_look() const { return !vector_; }
  TerminalSettings settings();
  Nanoseconds now() const;

 private:
  struct State {
    SerialLine line;
    LineDiscipline discipline;
    TerminalSize size;
    TerminalListener* listener = nullptr;
  };

  static void interrupted(void* terminal, arch::TrapFrame&);
  // Takes what has arrived, and tells those who wait.
  void look();
  void set_settings(const TerminalSettings& settings, bool forget_input);

  Kernel& kernel_;
  Locked<State, SharedWith::interrupts> state_{LockRank::device};
  // Two threads that write do not mix their lines, and two that read get whole ones.
  Mutex writing_{LockRank::file_data};
  Mutex reading_{LockRank::file_data};
  PollSource source_;
  std::optional<std::uint8_t> vector_;  // none: nobody interrupts
};

}  // namespace ingot::os
