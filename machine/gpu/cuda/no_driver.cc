// The driver for programs that open no shared library: the static ingot, and tests.
#include "machine/gpu/cuda/driver.h"

namespace ingot::cuda {

Result<Driver> load_driver() {
  return Error::of(ErrorCode::unsupported,
                   "expected a program that opens NVIDIA's driver, found one that opens no shared library: "
                   "build ingot-gpu (make gpu), which ingot runs where a command says --device cuda");
}

bool opens_drivers() { return false; }

}  // namespace ingot::cuda
