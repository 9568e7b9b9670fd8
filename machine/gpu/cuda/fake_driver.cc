#include "machine/gpu/cuda/fake_driver.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace ingot {
namespace {

using namespace cuda;

FakeDriver* current = nullptr;  // functions of a table have no object

#define INGOT_CUDA_ENTRY(name, symbol, ...) \
  struct symbol##Call {};
INGOT_CUDA_FUNCTIONS(INGOT_CUDA_ENTRY)
#undef INGOT_CUDA_ENTRY

constexpr Status invalid_context{201};
constexpr Status invalid_handle{400};

template <class Handle>
std::uint64_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uint64_t>(handle);
  } else {
    return static_cast<std::uint64_t>(handle);
  }
}

template <class Handle>
Status give(Handle* handle, const char* kind) {
  const std::uint64_t number = current->give(kind);
  if constexpr (std::is_pointer_v<Handle>) {
    *handle = std::bit_cast<Handle>(number);
  } else {
    *handle = static_cast<Handle>(number);
  }
  return Status::success;
}

template <class Handle>
Status take(Handle handle, std::string_view kind) {
  current->take(number_of(handle), kind);
  return Status::success;
}

bool is_live(std::uint64_t handle) { return current->live.contains(handle); }

// What has no other answer succeeds.
template <class Call, class... Arguments>
Status answer(Call, Arguments...) {
  return Status::success;
}

Status answer(cuDriverGetVersionCall, int* version) {
  *version = current->version;
  return Status::success;
}
Status answer(cuInitCall, unsigned) { return current->devices < 0 ? Status::no_device : Status::success; }
Status answer(cuGetErrorNameCall, Status status, const char** name) {
  *name = status == Status::out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_ILLEGAL_ADDRESS";
  return status == Status{9999} ? Status::invalid_value : Status::success;
}
Status answer(cuGetErrorStringCall, Status status, const char** text) {
  *text = status == Status::out_of_memory ? "out of memory" : "an illegal memory access was encountered";
  return Status::success;
}
Status answer(cuDeviceGetCountCall, int* count) {
  *count = current->devices;
  return Status::success;
}
Status answer(cuDeviceGetCall, DeviceHandle* device, int index) {
  *device = index;
  return Status::success;
}
Status answer(cuDeviceGetNameCall, char* name, int capacity, DeviceHandle) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(capacity));
  return Status::success;
}
Status answer(cuDeviceGetUuid_v2Call, Uuid* uuid, DeviceHandle) {
  for (int index = 0; index < 16; ++index) uuid->bytes[index] = static_cast<std::uint8_t>(index * 17);
  return Status::success;
}
Status answer(cuDeviceGetAttributeCall, int* value, DeviceAttribute which, DeviceHandle) {
  *value = which == DeviceAttribute::capability_major   ? current->capability / 10
           : which == DeviceAttribute::capability_minor ? current->capability % 10
           : which == DeviceAttribute::multiprocessors  ? 132
           : which == DeviceAttribute::level2_bytes     ? 60 << 20
                                                        : current->shared_bytes_of_block;
  return Status::success;
}
Status answer(cuDeviceTotalMem_v2Call, std::size_t* bytes, DeviceHandle) {
  *bytes = current->total_bytes;
  return Status::success;
}
Status answer(cuDevicePrimaryCtxRetainCall, ContextHandle* context, DeviceHandle) { return give(context, "context"); }
Status answer(cuDevicePrimaryCtxRelease_v2Call, DeviceHandle) {
  const auto found = std::ranges::find(current->live, "context", [](const auto& entry) { return entry.second; });
  return take(found == current->live.end() ? 0 : found->first, "context");
}
Status answer(cuCtxSetCurrentCall, ContextHandle context) {
  current->context = number_of(context);
  return is_live(current->context) ? Status::success : invalid_context;
}
Status answer(cuMemGetInfo_v2Call, std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = current->free_bytes;
  *total_bytes = current->total_bytes;
  return Status::success;
}
Status answer(cuMemAlloc_v2Call, Address* address, std::size_t bytes) {
  if (bytes > current->total_bytes) return Status::out_of_memory;
  const Status given = give(address, "memory");
  current->device_memory[*address] = bytes;
  current->count_memory(bytes);
  return given;
}
Status answer(cuMemFree_v2Call, Address address) { return take(address, "memory"); }
// The one kind of memory that its owner touches.
Status answer(cuMemHostAllocCall, void** memory, std::size_t bytes, unsigned) {
  *memory = std::calloc(bytes, 1);
  current->live[number_of(*memory)] = "pinned memory";
  return Status::success;
}
Status answer(cuMemFreeHostCall, void* memory) {
  if (is_live(number_of(memory))) std::free(memory);
  return take(memory, "pinned memory");
}
Status answer(cuStreamCreateCall, StreamHandle* stream, unsigned) { return give(stream, "stream"); }
Status answer(cuStreamDestroy_v2Call, StreamHandle stream) { return take(stream, "stream"); }
Status answer(cuStreamEndCaptureCall, StreamHandle, GraphHandle* graph) { return give(graph, "graph"); }
Status answer(cuEventCreateCall, EventHandle* event, unsigned) { return give(event, "event"); }
Status answer(cuEventDestroy_v2Call, EventHandle event) { return take(event, "event"); }
Status answer(cuEventElapsedTimeCall, float* milliseconds, EventHandle, EventHandle) {
  *milliseconds = 2.5F;
  return Status::success;
}
Status answer(cuModuleLoadDataCall, ModuleHandle* module, const void*) { return give(module, "module"); }
Status answer(cuModuleUnloadCall, ModuleHandle module) { return take(module, "module"); }
Status answer(cuModuleGetFunctionCall, FunctionHandle* function, ModuleHandle module, const char* name) {
  // Known by its name, which lives as long as the table of functions; it is never given back.
  *function = reinterpret_cast<FunctionHandle>(const_cast<char*>(name));
  return is_live(number_of(module)) ? Status::success : invalid_handle;
}
Status answer(cuLaunchKernelExCall, const LaunchConfiguration* configuration, FunctionHandle function, void** arguments,
              void**) {
  const LaunchConfiguration& c = *configuration;
  std::string text = std::string(reinterpret_cast<const char*>(function)) + ' ' + std::to_string(c.blocks_x);
  for (const unsigned size : {c.blocks_y, c.blocks_z, c.threads_x}) text += 'x' + std::to_string(size);
  text += '+' + std::to_string(c.shared_bytes);
  if (c.attribute_count == 1 && c.attributes->what == LaunchAttribute::dependent_launch && c.attributes->value.number) {
    text += " early";
  }
  current->launches.push_back(text);
  const auto* const bytes = static_cast<const std::uint8_t*>(arguments[0]);
  current->last_parameters.assign(bytes, bytes + current->parameter_bytes);
  return is_live(number_of(c.stream)) ? Status::success : invalid_handle;
}
Status answer(cuGraphInstantiateWithFlagsCall, ExecutableHandle* executable, GraphHandle, unsigned long long) {
  return give(executable, "executable");
}
Status answer(cuGraphLaunchCall, ExecutableHandle executable, StreamHandle) {
  current->launches.emplace_back("graph");
  return is_live(number_of(executable)) ? Status::success : invalid_handle;
}
Status answer(cuGraphDestroyCall, GraphHandle graph) { return take(graph, "graph"); }
Status answer(cuGraphExecDestroyCall, ExecutableHandle executable) { return take(executable, "executable"); }
Status answer(cuMemAddressReserveCall, Address* address, std::size_t, std::size_t, Address, unsigned long long) {
  return give(address, "addresses");
}
Status answer(cuMemAddressFreeCall, Address address, std::size_t) { return take(address, "addresses"); }
Status answer(cuMemCreateCall, AllocationHandle* handle, std::size_t, const AllocationProperties*, unsigned long long) {
  return give(handle, "granules");
}
Status answer(cuMemReleaseCall, AllocationHandle handle) { return take(handle, "granules"); }
Status answer(cuMemMapCall, Address address, std::size_t bytes, std::size_t, AllocationHandle handle,
              unsigned long long) {
  current->mapped[address] = bytes;
  current->count_memory(bytes);
  return is_live(handle) ? Status::success : invalid_handle;
}
Status answer(cuMemUnmapCall, Address address, std::size_t bytes) {
  std::size_t unmapped = 0;
  for (auto at = current->mapped.lower_bound(address); at != current->mapped.end() && at->first < address + bytes;) {
    unmapped += at->second;
    at = current->mapped.erase(at);
  }
  current->device_bytes -= unmapped;
  if (unmapped != bytes) current->mistakes.emplace_back("unmapped what was not mapped");
  return Status::success;
}
Status answer(cuMemGetAllocationGranularityCall, std::size_t* bytes, const AllocationProperties*, int) {
  *bytes = current->granule;
  return Status::success;
}

// What gives something back, and what that needs, does so also where it says that it failed.
bool gives_back(std::string_view symbol) {
  for (const std::string_view word : {"Free", "Destroy", "Unload", "Release", "Unmap", "Unregister", "CtxSetCurrent"}) {
    if (symbol.find(word) != symbol.npos) return true;
  }
  return false;
}

template <class Call, class... Arguments>
Status play(const char* symbol, Arguments... arguments) {
  current->calls.emplace_back(symbol);
  if (current->before) current->before(symbol);
  if (!current->has_context(symbol)) return invalid_context;
  const bool fails = current->fails(symbol);
  if (fails && !gives_back(symbol)) return current->fail_with;
  const Status status = answer(Call{}, arguments...);
  return fails ? current->fail_with : status;
}

}  // namespace

FakeDriver::FakeDriver() { current = this; }
FakeDriver::~FakeDriver() { current = nullptr; }

Driver FakeDriver::driver() const {
  Driver driver;
#define INGOT_CUDA_ENTRY(name, symbol, ...) \
  driver.functions.name.call = [](auto... arguments) { return play<symbol##Call>(#symbol, arguments...); };
  INGOT_CUDA_FUNCTIONS(INGOT_CUDA_ENTRY)
#undef INGOT_CUDA_ENTRY
  return driver;
}

void* FakeDriver::lookup(const char* symbol, std::string_view missing) const {
  void* found = nullptr;
  Driver all = driver();
  for_each_function(all.functions, [&](const auto& function) {
    if (function.symbol == std::string_view(symbol) && symbol != missing) {
      found = std::bit_cast<void*>(function.call);
    }
  });
  return found;
}

int FakeDriver::count(std::string_view symbol) const { return static_cast<int>(std::ranges::count(calls, symbol)); }

// Far apart, since addresses within what is given are used.
std::uint64_t FakeDriver::give(std::string kind) {
  const std::uint64_t handle = next_++ << 40;
  live[handle] = std::move(kind);
  return handle;
}

void FakeDriver::count_memory(std::size_t bytes) {
  device_bytes += bytes;
  most_device_bytes = std::max(most_device_bytes, device_bytes);
}

void FakeDriver::take(std::uint64_t handle, std::string_view kind) {
  const auto found = live.find(handle);
  if (found == live.end() || found->second != kind) {
    mistakes.push_back("gave back what is not there: " + std::string(kind));
    return;
  }
  live.erase(found);
  if (const auto memory = device_memory.extract(handle)) device_bytes -= memory.mapped();
}

bool FakeDriver::fails(const char* symbol) {
  return static_cast<int>(calls.size()) == fail_at || (fail_symbol == symbol && count(symbol) > fail_after);
}

bool FakeDriver::has_context(const char* symbol) {
  const std::string_view name = symbol;
  for (const std::string_view prefix : {"cuInit", "cuDriver", "cuGetError", "cuDevice", "cuCtx"}) {
    if (name.starts_with(prefix)) return true;
  }
  if (context != 0 && live.contains(context)) {
    context = 0;
    return true;
  }
  mistakes.push_back(std::string(name) + " without a context");
  return false;
}

}  // namespace ingot
