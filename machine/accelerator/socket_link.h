// SocketLink: a Linux process's way to an accelerator, over a broker's socket. The process owns its memory, so it
// writes the owner's ring, too.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "machine/accelerator/greeting.h"
#include "machine/accelerator/link.h"

namespace ingot {

class SocketLink final : public AcceleratorLink {
 public:
  // Fails where nobody listens at the path, or somebody who greets in other words.
  static Result<std::unique_ptr<SocketLink>> connect(const std::string& path);

  accelerator::SharedWords words() const override { return shared_; }
  accelerator::Promise promise() const override { return accelerator::Promise::fences; }
  Result<void> ring() override;
  void wait(std::chrono::milliseconds limit) override;
  bool is_left() override { return ingot::is_left(socket_.get()); }
  Result<SharedMemory> make_memory(Bytes bytes, const char* name) override { return SharedMemory::create(bytes, name); }
  Result<void> map(const ShownMemory& memory, const WaitUntil& wait_until) override;
  Result<void> unmap(const std::byte* begin, const WaitUntil& wait_until) override;

 private:
  SocketLink(Descriptor socket, Greeting greeting, SharedMemory rings);
  // One at a time, so there is room.
  Result<void> order(accelerator::VendorPacket packet, const WaitUntil& wait_until);

  Descriptor socket_;
  Descriptor worker_bell_;
  Descriptor answer_bell_;
  SharedMemory rings_;
  accelerator::SharedWords shared_;
  accelerator::MemoryWriter orders_;
  accelerator::MemoryAnswerReader answers_;
};

}  // namespace ingot
