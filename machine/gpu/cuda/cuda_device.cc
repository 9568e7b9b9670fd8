#include "machine/gpu/cuda/cuda_device.h"

#include <bit>

#include "machine/gpu/cuda/address_range.h"
#include "machine/gpu/cuda/cuda_queue.h"
#include "machine/gpu/cuda/device_list.h"
#include "machine/gpu/launch_limits.h"

namespace ingot {
namespace {

constexpr std::size_t neighbour_bytes = 64 << 20;
constexpr int neighbour_fills = 16;

}  // namespace

CudaDevice::CudaDevice(DeviceInformation information, const cuda::Context& context)
    : information_(std::move(information)), context_(context), modules_(std::make_unique<ModuleCache>(context_)) {}

CudaDevice::~CudaDevice() {
  neighbour_.reset();
  neighbour_memory_ = DeviceMemory();
  modules_.reset();
  (void)context_.driver.functions.context_release(context_.device);
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::create(const cuda::Driver& driver, int index) {
  const int count = TRY(count_cuda_devices(driver));
  if (index < 0 || index >= count) {
    return Error::of(ErrorCode::out_of_range, "expected a GPU from cuda:0 to cuda:", count - 1, ", found cuda:", index,
                     ": the driver shows ", count, count == 1 ? " GPU" : " GPUs");
  }
  DeviceInformation information = TRY(describe_cuda_device(driver, index));
  if (information.capability < least_capability) {
    return Error::of(ErrorCode::unsupported, "expected a GPU of compute capability 8.0 or later, found ",
                     std::string_view(information.name), " (cuda:", index, ") with ", information.capability / 10, '.',
                     information.capability % 10);
  }
  cuda::Context context{.driver = driver};
  TRY(driver.call(driver.functions.device_get, &context.device, index));
  int shared_bytes = 0;
  TRY(driver.call(driver.functions.device_attribute, &shared_bytes, cuda::DeviceAttribute::shared_bytes_of_block,
                  context.device));
  if (shared_bytes < static_cast<int>(most_launch_shared_bytes)) {
    return Error::of(ErrorCode::unsupported, "expected a GPU that gives a block ", most_launch_shared_bytes >> 10,
                     " KiB of shared memory (A100, H100, H200 and their like), found ",
                     std::string_view(information.name), " (cuda:", index, ") with ", shared_bytes >> 10);
  }
  TRY(driver.call(driver.functions.context_retain, &context.handle, context.device));
  std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(information), context));
  TRY(device->context_.enter());
  return device;
}

Result<DeviceMemoryState> CudaDevice::memory_state() {
  DeviceMemoryState state;
  TRY(context_.call(&cuda::DriverFunctions::memory_state, &state.free_bytes, &state.total_bytes));
  return state;
}

Result<DeviceMemory> CudaDevice::allocate(std::size_t bytes) {
  if (bytes == 0) return DeviceMemory();
  cuda::Address address = 0;
  const Result<void> taken = context_.call(&cuda::DriverFunctions::memory_allocate, &address, bytes);
  if (taken.ok()) return DeviceMemory(*this, std::bit_cast<std::byte*>(address), bytes);
  const auto state = memory_state();
  if (!state.ok()) return taken.error();
  return Error::of(taken.error().code(), "expected ", bytes, " bytes of memory on cuda:", information_.index,
                   ", found ", state.value().free_bytes, " of ", state.value().total_bytes,
                   " free: ", taken.error().text());
}

Result<PinnedMemory> CudaDevice::allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return PinnedMemory();
  void* memory = nullptr;
  const Result<void> taken =
      context_.call(&cuda::DriverFunctions::host_allocate, &memory, bytes, cuda::pinned_for_all_contexts);
  if (!taken.ok()) return taken.error().within("expected ", bytes, " bytes of pinned memory");
  return PinnedMemory(*this, static_cast<std::byte*>(memory), bytes);
}

Result<std::unique_ptr<AddressRange>> CudaDevice::reserve(std::size_t capacity) {
  return std::unique_ptr<AddressRange>(TRY(CudaAddressRange::reserve(*this, capacity)));
}

Result<std::unique_ptr<Queue>> CudaDevice::make_queue() {
  return std::unique_ptr<Queue>(TRY(CudaQueue::create(*this, Pace::free)));
}

Result<void> CudaDevice::disturb(int turn) {
  if (turn == 0) return neighbour_ ? neighbour_->wait() : Result<void>();
  if (!neighbour_) {
    neighbour_memory_ = TRY(allocate(neighbour_bytes));
    neighbour_ = TRY(make_queue());
  }
  for (int count = 0; count < neighbour_fills; ++count) {
    neighbour_->fill(neighbour_memory_.data(), static_cast<std::uint8_t>(turn), neighbour_memory_.size());
  }
  return {};
}

void CudaDevice::release(MemoryKind kind, std::byte* data, std::size_t) {
  if (kind == MemoryKind::pinned) {
    (void)context_.release(&cuda::DriverFunctions::host_free, static_cast<void*>(data));
  } else {
    (void)context_.release(&cuda::DriverFunctions::memory_free, reinterpret_cast<cuda::Address>(data));
  }
}

}  // namespace ingot
