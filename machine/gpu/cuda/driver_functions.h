// The functions of the CUDA driver that are in use: one list, from which they are loaded, named in errors, and played
// in tests. Declared here because host sources include no header of CUDA's; a name ends in the version of the function
// whose arguments stand here, as the driver exports it. 64-bit Linux alone: there all calls have the C convention.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::cuda {

// CUresult. The driver itself names them; these are the ones that are looked at.
enum class Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
};

using DeviceHandle = int;                         // CUdevice
using Address = unsigned long long;               // CUdeviceptr
using AllocationHandle = unsigned long long;      // CUmemGenericAllocationHandle
using ContextHandle = struct ContextPart*;        // CUcontext
using StreamHandle = struct StreamPart*;          // CUstream
using EventHandle = struct EventPart*;            // CUevent
using ModuleHandle = struct ModulePart*;          // CUmodule
using FunctionHandle = struct FunctionPart*;      // CUfunction
using GraphHandle = struct GraphPart*;            // CUgraph
using ExecutableHandle = struct ExecutablePart*;  // CUgraphExec

struct Uuid {
  std::uint8_t bytes[16];
};

enum class DeviceAttribute : int {
  multiprocessors = 16,
  level2_bytes = 38,
  capability_major = 75,
  capability_minor = 76,
  shared_bytes_of_block = 97,  // where a function asks for more than 48 KiB
};

enum class FunctionAttribute : int {
  dynamic_shared_bytes = 8,
};

// Flags, each of one call.
inline constexpr unsigned stream_beside_the_default_one = 1;  // CU_STREAM_NON_BLOCKING
inline constexpr unsigned event_with_time = 0;                // CU_EVENT_DEFAULT
inline constexpr unsigned pinned_for_all_contexts = 1;        // CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE

enum class CaptureMode : int { global = 0, thread = 1, relaxed = 2 };

// CUlaunchAttribute: 8 bytes of what it is, 64 of its value.
struct LaunchAttribute {
  static constexpr int dependent_launch = 6;  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  int what = 0;
  int unused = 0;
  union {
    int number;
    unsigned char bytes[64];
    std::uint64_t aligned;
  } value{};
};

// CUlaunchConfig.
struct LaunchConfiguration {
  unsigned blocks_x = 1, blocks_y = 1, blocks_z = 1;
  unsigned threads_x = 1, threads_y = 1, threads_z = 1;
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// CUmemLocation, CUmemAllocationProp, CUmemAccessDesc.
struct Location {
  static constexpr int on_device = 1;
  int kind = on_device;
  int index = 0;
};
struct AllocationProperties {
  int kind = 1;              // CU_MEM_ALLOCATION_TYPE_PINNED: it stays where it is
  int exported_handles = 0;  // none
  Location location;
  void* windows_only = nullptr;
  std::uint8_t flags[8] = {};
};
struct AccessDescription {
  static constexpr int read_and_write = 3;
  Location location;
  int access = read_and_write;
};
inline constexpr int granularity_recommended = 1;

// An entry of the table: the name that it is exported by, and where it lies. All of them return a status.
template <class... Arguments>
struct DriverFunction {
  const char* symbol;
  Status (*call)(Arguments...) = nullptr;

  Status operator()(Arguments... arguments) const { return call(arguments...); }
};

// name, symbol, arguments
#define INGOT_CUDA_FUNCTIONS(FUNCTION)                                                                            \
  FUNCTION(initialize, cuInit, unsigned)                                                                          \
  FUNCTION(driver_version, cuDriverGetVersion, int*)                                                              \
  FUNCTION(error_name, cuGetErrorName, Status, const char**)                                                      \
  FUNCTION(error_text, cuGetErrorString, Status, const char**)                                                    \
  FUNCTION(device_count, cuDeviceGetCount, int*)                                                                  \
  FUNCTION(device_get, cuDeviceGet, DeviceHandle*, int)                                                           \
  FUNCTION(device_name, cuDeviceGetName, char*, int, DeviceHandle)                                                \
  FUNCTION(device_uuid, cuDeviceGetUuid_v2, Uuid*, DeviceHandle)                                                  \
  FUNCTION(device_attribute, cuDeviceGetAttribute, int*, DeviceAttribute, DeviceHandle)                           \
  FUNCTION(device_memory, cuDeviceTotalMem_v2, std::size_t*, DeviceHandle)                                        \
  FUNCTION(context_retain, cuDevicePrimaryCtxRetain, ContextHandle*, DeviceHandle)                                \
  FUNCTION(context_release, cuDevicePrimaryCtxRelease_v2, DeviceHandle)                                           \
  FUNCTION(context_enter, cuCtxSetCurrent, ContextHandle)                                                         \
  FUNCTION(memory_state, cuMemGetInfo_v2, std::size_t*, std::size_t*)                                             \
  FUNCTION(memory_allocate, cuMemAlloc_v2, Address*, std::size_t)                                                 \
  FUNCTION(memory_free, cuMemFree_v2, Address)                                                                    \
  FUNCTION(host_allocate, cuMemHostAlloc, void**, std::size_t, unsigned)                                          \
  FUNCTION(host_free, cuMemFreeHost, void*)                                                                       \
  FUNCTION(copy_in, cuMemcpyHtoDAsync_v2, Address, const void*, std::size_t, StreamHandle)                        \
  FUNCTION(copy_out, cuMemcpyDtoHAsync_v2, void*, Address, std::size_t, StreamHandle)                             \
  FUNCTION(copy_within, cuMemcpyDtoDAsync_v2, Address, Address, std::size_t, StreamHandle)                        \
  FUNCTION(fill, cuMemsetD8Async, Address, unsigned char, std::size_t, StreamHandle)                              \
  FUNCTION(stream_create, cuStreamCreate, StreamHandle*, unsigned)                                                \
  FUNCTION(stream_destroy, cuStreamDestroy_v2, StreamHandle)                                                      \
  FUNCTION(stream_wait, cuStreamSynchronize, StreamHandle)                                                        \
  FUNCTION(capture_begin, cuStreamBeginCapture_v2, StreamHandle, CaptureMode)                                     \
  FUNCTION(capture_end, cuStreamEndCapture, StreamHandle, GraphHandle*)                                           \
  FUNCTION(event_create, cuEventCreate, EventHandle*, unsigned)                                                   \
  FUNCTION(event_destroy, cuEventDestroy_v2, EventHandle)                                                         \
  FUNCTION(event_record, cuEventRecord, EventHandle, StreamHandle)                                                \
  FUNCTION(event_wait, cuEventSynchronize, EventHandle)                                                           \
  FUNCTION(event_milliseconds, cuEventElapsedTime, float*, EventHandle, EventHandle)                              \
  FUNCTION(module_load, cuModuleLoadData, ModuleHandle*, const void*)                                             \
  FUNCTION(module_unload, cuModuleUnload, ModuleHandle)                                                           \
  FUNCTION(module_function, cuModuleGetFunction, FunctionHandle*, ModuleHandle, const char*)                      \
  FUNCTION(function_load, cuFuncLoad, FunctionHandle)                                                             \
  FUNCTION(function_set_attribute, cuFuncSetAttribute, FunctionHandle, FunctionAttribute, int)                    \
  FUNCTION(launch, cuLaunchKernelEx, const LaunchConfiguration*, FunctionHandle, void**, void**)                  \
  FUNCTION(graph_instantiate, cuGraphInstantiateWithFlags, ExecutableHandle*, GraphHandle, unsigned long long)    \
  FUNCTION(graph_launch, cuGraphLaunch, ExecutableHandle, StreamHandle)                                           \
  FUNCTION(graph_destroy, cuGraphDestroy, GraphHandle)                                                            \
  FUNCTION(executable_destroy, cuGraphExecDestroy, ExecutableHandle)                                              \
  FUNCTION(address_reserve, cuMemAddressReserve, Address*, std::size_t, std::size_t, Address, unsigned long long) \
  FUNCTION(address_free, cuMemAddressFree, Address, std::size_t)                                                  \
  FUNCTION(granule_create, cuMemCreate, AllocationHandle*, std::size_t, const AllocationProperties*,              \
           unsigned long long)                                                                                    \
  FUNCTION(granule_release, cuMemRelease, AllocationHandle)                                                       \
  FUNCTION(granule_map, cuMemMap, Address, std::size_t, std::size_t, AllocationHandle, unsigned long long)        \
  FUNCTION(granule_unmap, cuMemUnmap, Address, std::size_t)                                                       \
  FUNCTION(granule_set_access, cuMemSetAccess, Address, std::size_t, const AccessDescription*, std::size_t)       \
  FUNCTION(granule_bytes, cuMemGetAllocationGranularity, std::size_t*, const AllocationProperties*, int)

struct DriverFunctions {
#define INGOT_CUDA_ENTRY(name, symbol, ...) DriverFunction<__VA_ARGS__> name{#symbol};
  INGOT_CUDA_FUNCTIONS(INGOT_CUDA_ENTRY)
#undef INGOT_CUDA_ENTRY
};

// Calls `visit(entry)` for every function of the table.
template <class Visitor>
void for_each_function(DriverFunctions& functions, const Visitor& visit) {
#define INGOT_CUDA_ENTRY(name, symbol, ...) visit(functions.name);
  INGOT_CUDA_FUNCTIONS(INGOT_CUDA_ENTRY)
#undef INGOT_CUDA_ENTRY
}

}  // namespace ingot::cuda
