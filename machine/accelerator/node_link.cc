#include "machine/accelerator/node_link.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

namespace ingot {
namespace {

using accelerator::NodeMap;
using accelerator::NodeUnmap;
using accelerator::NodeWait;

class OpenedNode final : public AcceleratorNode {
 public:
  OpenedNode(Descriptor node, std::byte* words) : node_(std::move(node)), words_(words) {}
  ~OpenedNode() override { ::munmap(words_, accelerator::client_bytes); }
  std::byte* words() const override { return words_; }
  int control(std::uint32_t code, void* argument) override { return ::ioctl(node_.get(), code, argument); }

 private:
  Descriptor node_;
  std::byte* words_;
};

Error no_node() {
  switch (errno) {
    case ENOENT:
      return Error::of(ErrorCode::not_found, "expected an accelerator of this machine at ",
                       std::string_view(accelerator::node_path),
                       ", found none: cast the image with --grant accelerator, boot it with --device accelerator; "
                       "without a machine, say accelerator:SOCKET, where `ingot accelerator` listens");
    case EBUSY:
      return Error::of(ErrorCode::would_block,
                       "expected this machine's accelerator to be free, found it in use: it "
                       "is one program's at a time");
    case ENXIO:
      return Error::of(ErrorCode::input_output,
                       "expected this machine's accelerator to work, found it lost: its "
                       "worker or its broker was ended");
    default: return refused("open this machine's accelerator");
  }
}

}  // namespace

Result<std::unique_ptr<AcceleratorNode>> open_node() {
  Descriptor node(::open(accelerator::node_path, O_RDWR | O_CLOEXEC));
  if (!node.is_open()) return no_node();
  void* const words = ::mmap(nullptr, accelerator::client_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, node.get(), 0);
  if (words == MAP_FAILED) return refused("map an accelerator's words");
  return std::unique_ptr<AcceleratorNode>(
      std::make_unique<OpenedNode>(std::move(node), static_cast<std::byte*>(words)));
}

Result<void> NodeLink::ring() {
  if (node_->control(accelerator::node_ring, nullptr) < 0) return refused("ring an accelerator");
  return {};
}

void NodeLink::wait(std::chrono::milliseconds limit) {
  NodeWait wait = {static_cast<std::uint64_t>(std::chrono::nanoseconds(limit).count())};
  if (node_->control(accelerator::node_wait, &wait) < 0 && errno != EINTR) is_lost_ = true;
}

bool NodeLink::is_left() { return is_lost_ || words().broker().worker_is_gone.load(MemoryOrder::acquire) != 0; }

Result<void> NodeLink::map(const ShownMemory& memory, const WaitUntil&) {
  NodeMap map = {memory.address(), memory.bytes.size(), memory.rights(), 0};
  if (node_->control(accelerator::node_map, &map) < 0) return refused("show memory to an accelerator");
  return {};
}

Result<void> NodeLink::unmap(const std::byte* begin, const WaitUntil&) {
  NodeUnmap unmap = {reinterpret_cast<std::uintptr_t>(begin)};
  if (node_->control(accelerator::node_unmap, &unmap) < 0) return refused("take memory back from an accelerator");
  return {};
}

}  // namespace ingot
