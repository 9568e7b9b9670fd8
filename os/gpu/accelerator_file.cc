#include "os/gpu/accelerator_file.h"

#include <algorithm>

#include "os/file/control_caller.h"
#include "os/process/process.h"

namespace ingot::os {

using accelerator::NodeMap;
using accelerator::NodeUnmap;
using accelerator::NodeWait;

class AcceleratorDevice::Opened final : public FileDescription {
 public:
  Opened(Node& node, AcceleratorDevice& device, std::uint32_t flags)
      : FileDescription(flags), node_(node), device_(device), heard_(device.bell_.count.load(MemoryOrder::acquire)) {}
  ~Opened() { device_.accelerator_.close(); }

  Answer<FileStatus> status() override { return node_->status(); }
  Node* node() override { return node_.get(); }
  std::uint32_t poll() override {
    const std::uint32_t lost = device_.accelerator_.is_lost() ? poll_event::error | poll_event::hang_up : 0;
    return lost | (has_rung() ? poll_event::readable : 0);
  }
  PollSource* poll_source() override { return &device_.bell_.source; }

  Answer<FileMapping> mapping(std::uint64_t offset, std::uint64_t bytes, Access access) override {
    if (offset > accelerator::client_bytes || bytes > accelerator::client_bytes - offset) return Errno::einval;
    if (allows(access, Access::execute)) return Errno::eacces;
    return FileMapping{&device_.rings_, {}};
  }

  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override {
    switch (request) {
      case accelerator::node_map: return show(argument, caller);
      case accelerator::node_unmap: {
        const NodeUnmap wanted = TRY(caller.memory().read<NodeUnmap>(argument));
        TRY(device_.accelerator_.hide(wanted.address));
        return std::int64_t{0};
      }
      case accelerator::node_ring: device_.accelerator_.ring(); return std::int64_t{0};
      case accelerator::node_wait: return wait(argument, caller);
      default: return Errno::enotty;
    }
  }

 private:
  bool has_rung() const { return device_.bell_.count.load(MemoryOrder::acquire) != heard_.load(MemoryOrder::relaxed); }

  Answer<std::int64_t> show(std::uint64_t argument, ControlCaller& caller) {
    const NodeMap wanted = TRY(caller.memory().read<NodeMap>(argument));
    if (caller.process() == nullptr) return Errno::efault;
    ProgramMemory& memory = caller.process()->memory();
    TRY(device_.accelerator_.show(memory.space(), wanted, memory.account().limit()));
    return std::int64_t{0};
  }

  Answer<std::int64_t> wait(std::uint64_t argument, ControlCaller& caller) {
    const NodeWait wanted = TRY(caller.memory().read<NodeWait>(argument));
    constexpr std::int64_t year = 365 * 24 * std::int64_t{3'600'000'000'000};
    const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(wanted.nanoseconds, year));
    const Nanoseconds deadline = device_.machine_.now() + Nanoseconds(most);
    while (true) {
      // What was told before the worker was lost is heard before that is.
      const std::uint64_t count = device_.bell_.count.load(MemoryOrder::acquire);
      if (heard_.exchange(count, MemoryOrder::relaxed) != count) return std::int64_t{1};
      if (device_.accelerator_.is_lost()) return Errno::eio;
      const Nanoseconds now = device_.machine_.now();
      if (now >= deadline) return std::int64_t{0};
      device_.accelerator_.look();
      const Nanoseconds next = std::min(deadline, now + WorkerWatch::look_again);
      const Answer<void> told =
          caller.wait_until(device_.bell_.source, [&] { return has_rung() || device_.accelerator_.is_lost(); }, next);
      // Not begun again by itself: the time would begin again, too.
      if (!told.ok() && told.error() != Errno::etimedout) return Errno::eintr;
    }
  }

  Reference<Node> node_;
  AcceleratorDevice& device_;
  Atomic<std::uint64_t> heard_;  // how often it had rung when somebody was last told
};

Answer<Reference<FileDescription>> AcceleratorDevice::open(Node& node, std::uint32_t flags) {
  if ((flags & open_flag::access_mask) != open_flag::read_write) return Errno::eacces;
  TRY(accelerator_.open());
  Result<Reference<Opened>> opened = make_reference<Opened>(heap_, node, *this, flags);
  if (opened.ok()) return Reference<FileDescription>(std::move(opened).value());
  accelerator_.close();
  return Errno::enomem;
}

}  // namespace ingot::os
