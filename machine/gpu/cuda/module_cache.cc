#include "machine/gpu/cuda/module_cache.h"

namespace ingot {

Result<cuda::ModuleHandle> ModuleCache::module_of(const DeviceModule& module) {
  const auto found = modules_.find(module.binary);
  if (found != modules_.end()) return found->second.value();
  if (module.binary == nullptr) {
    return Error::of(ErrorCode::unsupported, "expected device code of ", module.name,
                     ", found a program that carries none: build ingot-gpu (make gpu)");
  }
  cuda::ModuleHandle handle = nullptr;
  TRY(context_.call(&cuda::DriverFunctions::module_load, &handle, static_cast<const void*>(module.binary)));
  modules_.emplace(module.binary, cuda::Module(context_, handle));
  return handle;
}

Result<cuda::FunctionHandle> ModuleCache::load(const DeviceFunction& function) {
  const cuda::ModuleHandle module = TRY(module_of(*function.module));
  cuda::FunctionHandle handle = nullptr;
  TRY(context_.call(&cuda::DriverFunctions::module_function, &handle, module, function.name));
  // Now: else the driver loads it at its first launch, which may be one that is being captured.
  TRY(context_.call(&cuda::DriverFunctions::function_load, handle));
  return handle;
}

Result<cuda::FunctionHandle> ModuleCache::function(const DeviceFunction& function, std::uint32_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  auto found = functions_.find(&function);
  if (found == functions_.end()) {
    const cuda::FunctionHandle handle = TRY(load(function));
    found = functions_.emplace(&function, LoadedFunction{handle, 0}).first;
  }
  LoadedFunction& loaded = found->second;
  // Without asking it is 48 KiB, less what the function has declared, which only the driver knows.
  if (shared_bytes > loaded.shared_bytes) {
    TRY(context_.call(&cuda::DriverFunctions::function_set_attribute, loaded.handle,
                      cuda::FunctionAttribute::dynamic_shared_bytes, static_cast<int>(shared_bytes)));
    loaded.shared_bytes = shared_bytes;
  }
  return loaded.handle;
}

}  // namespace ingot
