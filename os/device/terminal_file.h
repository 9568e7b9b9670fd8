// TerminalFile: the terminal as a program has opened it.
#pragma once

#include "base/atomic.h"
#include "os/device/terminal.h"
#include "os/file/control_caller.h"
#include "os/file/node.h"

namespace ingot::os {

class TerminalFile final : public FileDescription {
 public:
  TerminalFile(Terminal& terminal, Node& node, std::uint32_t flags)
      : FileDescription(flags), terminal_(terminal), node_(node) {}

  Answer<FileStatus> status() override { return node_->status(); }
  Node* node() override { return node_.get(); }
  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override {
    return terminal_.control(request, argument, caller.memory());
  }
  std::uint32_t poll() override { return terminal_.poll(); }
  PollSource* poll_source() override { return &terminal_.poll_source(); }
  std::optional<Nanoseconds> ready_at() override {
    constexpr Nanoseconds between_looks{10'000'000};
    if (terminal_.must_look()) return terminal_.now() + between_looks;
    if (const std::int64_t time = gives_up_at_.load(MemoryOrder::relaxed); time != 0) return Nanoseconds(time);
    return {};
  }

 private:
  // In raw mode a program can wait for a while only (VTIME, in tenths of a second) and then read nothing.
  Answer<std::size_t> read_bytes(Transfer& to) override {
    Answer<std::size_t> moved = terminal_.read(to);
    if (moved.ok() || moved.error() != Errno::eagain || non_blocking()) {
      gives_up_at_.store(0, MemoryOrder::relaxed);
      return moved;
    }
    const TerminalSettings settings = terminal_.settings();
    const std::int64_t tenths = settings.characters[terminal_character::time];
    if ((settings.local & terminal_local::lines) != 0 || tenths == 0 ||
        settings.characters[terminal_character::minimum] != 0) {
      return moved;
    }
    const std::int64_t now = terminal_.now().count(), end = gives_up_at_.load(MemoryOrder::relaxed);
    if (end == 0) gives_up_at_.store(now + tenths * 100'000'000, MemoryOrder::relaxed);
    if (end == 0 || now < end) return moved;
    gives_up_at_.store(0, MemoryOrder::relaxed);
    return std::size_t{0};
  }
  Answer<std::size_t> write_bytes(Transfer& from) override { return terminal_.write(from); }

  Terminal& terminal_;
  Reference<Node> node_;
  Atomic<std::int64_t> gives_up_at_;  // 0: nobody has begun to wait
};

}  // namespace ingot::os
