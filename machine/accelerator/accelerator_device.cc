#include "machine/accelerator/accelerator_device.h"

#include "machine/accelerator/node_link.h"
#include "machine/limits.h"

namespace ingot {
namespace {

// A piece of shared memory of its own: pages that nobody touched take none.
class SharedRange final : public AddressRange {
 public:
  SharedRange(AcceleratorClient& client, SharedMemory memory) : client_(client), memory_(std::move(memory)) {}
  // The worker may be gone: then it sees nothing any more.
  ~SharedRange() override { static_cast<void>(client_.unmap(memory_.data()).ok()); }

  Result<void> grow_to(std::size_t bytes) override {
    if (bytes > memory_.size()) {
      return Error::of(ErrorCode::out_of_memory, "expected at most ", memory_.size(), " reserved bytes, found ", bytes);
    }
    used_ = std::max(used_, bytes);
    return {};
  }
  std::byte* data() const override { return memory_.data(); }
  std::size_t size() const override { return used_; }
  std::size_t capacity() const override { return memory_.size(); }

 private:
  AcceleratorClient& client_;
  SharedMemory memory_;
  std::size_t used_ = 0;
};

class LentRange final : public LentMemory {
 public:
  LentRange(AcceleratorClient& client, const std::byte* begin) : client_(client), begin_(begin) {}
  ~LentRange() override { static_cast<void>(client_.unmap(begin_).ok()); }

 private:
  AcceleratorClient& client_;
  const std::byte* begin_;
};

}  // namespace

AcceleratorDevice::AcceleratorDevice(std::unique_ptr<AcceleratorClient> client, std::string name)
    : client_(std::move(client)), heap_(*client_) {
  information_.name = std::move(name);
  information_.takes_calls = true;
  information_.features = FeatureSet::of_bits(identity().features);
  information_.multiprocessors = static_cast<int>(identity().threads);
  information_.memory_bytes = static_cast<std::size_t>(usable_memory().count());
}

std::unique_ptr<AcceleratorDevice> AcceleratorDevice::over(std::unique_ptr<AcceleratorClient> client,
                                                           std::string name) {
  return std::unique_ptr<AcceleratorDevice>(new AcceleratorDevice(std::move(client), std::move(name)));
}

Result<std::unique_ptr<AcceleratorDevice>> AcceleratorDevice::open(const std::string& path) {
  if (!path.empty()) return over(TRY(AcceleratorClient::connect(path)), "the accelerator at " + path);
  auto link = std::make_unique<NodeLink>(TRY(open_node()));
  return over(TRY(AcceleratorClient::create(std::move(link), accelerator::node_path)), "this machine's accelerator");
}

Result<DeviceMemoryState> AcceleratorDevice::memory_state() {
  return DeviceMemoryState{information_.memory_bytes, information_.memory_bytes};
}

Result<DeviceMemory> AcceleratorDevice::allocate(std::size_t bytes) {
  return DeviceMemory(*this, TRY(heap_.allocate(bytes)), bytes);
}

Result<PinnedMemory> AcceleratorDevice::allocate_pinned(std::size_t bytes) {
  return PinnedMemory(*this, TRY(heap_.allocate(bytes)), bytes);
}

Result<std::unique_ptr<AddressRange>> AcceleratorDevice::reserve(std::size_t capacity) {
  SharedMemory memory = TRY(client_->make_memory(Bytes(capacity), "ingot accelerator range"));
  TRY(client_->map(memory));
  return std::unique_ptr<AddressRange>(std::make_unique<SharedRange>(*client_, std::move(memory)));
}

Result<std::unique_ptr<LentMemory>> AcceleratorDevice::lend(const LentFile& file) {
  // A file ends where it ends; what is mapped ends with its page.
  const std::size_t bytes = align_up(file.bytes.size(), accelerator::page_bytes);
  TRY(client_->map({{file.bytes.data(), bytes}, file.descriptor, false}));
  return std::unique_ptr<LentMemory>(std::make_unique<LentRange>(*client_, file.bytes.data()));
}

Result<std::unique_ptr<AcceleratorQueue>> AcceleratorDevice::make_accelerator_queue() {
  return AcceleratorQueue::create(*client_, heap_);
}

Result<std::unique_ptr<Queue>> AcceleratorDevice::make_queue() {
  return std::unique_ptr<Queue>(TRY(make_accelerator_queue()));
}

Result<void> AcceleratorDevice::disturb(int turn) {
  if (turn >= 0 && turn <= disturbances()) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a turn from 0 to ", disturbances(), ", found ", turn);
}

void AcceleratorDevice::release(MemoryKind, std::byte* data, std::size_t bytes) { heap_.release(data, bytes); }

std::optional<std::string> accelerator_path(std::string_view device) {
  constexpr std::string_view name = "accelerator";
  if (device == name) return std::string();
  if (!device.starts_with(name) || device[name.size()] != ':' || device.size() == name.size() + 1) return std::nullopt;
  return std::string(device.substr(name.size() + 1));
}

}  // namespace ingot
