// NodeLink: a program's way to the accelerator of the machine that it runs on, through the kernel's node
// (base/accelerator/node.h). The kernel owns the program's memory, and tells the worker of it.
#pragma once

#include <memory>

#include "base/accelerator/node.h"
#include "machine/accelerator/link.h"

namespace ingot {

// What is asked of a node; tests have one that plays a kernel.
class AcceleratorNode {
 public:
  virtual ~AcceleratorNode() = default;
  // The client's part of the shared memory, for as long as this lives.
  virtual std::byte* words() const = 0;
  // As ioctl() answers: -1 with errno set where it is refused.
  virtual int control(std::uint32_t code, void* argument) = 0;
};

// The machine's. Fails where there is none.
Result<std::unique_ptr<AcceleratorNode>> open_node();

class NodeLink final : public AcceleratorLink {
 public:
  explicit NodeLink(std::unique_ptr<AcceleratorNode> node) : node_(std::move(node)) {}

  accelerator::SharedWords words() const override { return accelerator::SharedWords(node_->words()); }
  // An emulated machine may keep no fences, which its programs cannot know.
  accelerator::Promise promise() const override { return accelerator::Promise::nothing; }
  Result<void> ring() override;
  void wait(std::chrono::milliseconds limit) override;
  bool is_left() override;
  Result<SharedMemory> make_memory(Bytes bytes, const char*) override { return SharedMemory::create_private(bytes); }
  Result<void> map(const ShownMemory& memory, const WaitUntil&) override;
  Result<void> unmap(const std::byte* begin, const WaitUntil&) override;

 private:
  std::unique_ptr<AcceleratorNode> node_;
  bool is_lost_ = false;
};

}  // namespace ingot
