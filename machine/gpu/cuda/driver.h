// Driver: the table of CUDA's driver with what its calls say when they fail. Every program links one of two sources:
// loaded_driver.cc, which opens libcuda.so.1 and makes the program a dynamic one, or no_driver.cc, which says that this
// program opens none.
#pragma once

#include <functional>

#include "base/result.h"
#include "machine/gpu/cuda/driver_functions.h"

namespace ingot::cuda {

struct Driver {
  DriverFunctions functions;

  // Calls a function of the table; an error names it, and what the driver says.
  template <class... Parameters, class... Arguments>
  Result<void> call(const DriverFunction<Parameters...>& function, Arguments... arguments) const {
    const Status status = function(arguments...);
    if (status == Status::success) [[likely]] {
      return {};
    }
    return error_of(function.symbol, status);
  }

  // "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
  Error error_of(const char* symbol, Status status) const;
};

// A table of what `lookup` finds, all of it. Fails where a name is missing, and before that where the driver is older
// than `needed_version` (13000 for CUDA 13.0), with both versions.
Result<Driver> driver_from(const std::function<void*(const char* symbol)>& lookup, int needed_version);

// The driver of this machine. Once opened it stays in the process.
Result<Driver> load_driver();
// Whether load_driver() of this program can ever succeed.
bool opens_drivers();

}  // namespace ingot::cuda
