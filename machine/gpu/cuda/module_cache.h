// The modules of a device: a binary is loaded when a function of it is first asked for, and stays.
#pragma once

#include <mutex>
#include <unordered_map>

#include "machine/gpu/cuda/owned.h"
#include "machine/gpu/device_function.h"

namespace ingot {

class ModuleCache {
 public:
  explicit ModuleCache(const cuda::Context& context) : context_(context) {}

  // The function, allowed to have so many bytes of dynamic shared memory a block. Functions are known by their
  // addresses: they are the constants of INGOT_DEVICE_FUNCTION_OF. Any thread may ask.
  Result<cuda::FunctionHandle> function(const DeviceFunction& function, std::uint32_t shared_bytes);

 private:
  struct LoadedFunction {
    cuda::FunctionHandle handle = nullptr;
    std::uint32_t shared_bytes = 0;
  };
  Result<cuda::ModuleHandle> module_of(const DeviceModule& module);
  Result<cuda::FunctionHandle> load(const DeviceFunction& function);

  const cuda::Context& context_;
  std::mutex mutex_;
  std::unordered_map<const unsigned char*, cuda::Module> modules_;  // by their binaries
  std::unordered_map<const DeviceFunction*, LoadedFunction> functions_;
};

}  // namespace ingot
