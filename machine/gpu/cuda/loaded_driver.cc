// The driver for programs that may open shared libraries: ingot-gpu (docs/decisions/035-two-programs.md).
#include <dlfcn.h>

#include "machine/gpu/cuda/driver.h"

namespace ingot::cuda {

Result<Driver> load_driver() {
  // Never closed: the driver keeps threads and handlers of its own, and does not survive that.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return Error::of(ErrorCode::not_found, "expected NVIDIA's driver, found ", reason == nullptr ? "no reason" : reason,
                     ": install the driver of the machine's GPU, or leave --device cuda out");
  }
  return driver_from([library](const char* symbol) { return dlsym(library, symbol); }, INGOT_CUDA_VERSION);
}

bool opens_drivers() { return true; }

}  // namespace ingot::cuda
