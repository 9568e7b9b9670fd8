#include "machine/gpu/cuda/driver.h"

#include <bit>

namespace ingot::cuda {
namespace {

template <class... Arguments>
Result<void> find(DriverFunction<Arguments...>& function, const std::function<void*(const char*)>& lookup) {
  void* const found = lookup(function.symbol);
  if (found == nullptr) {
    return Error::of(ErrorCode::unsupported, "expected ", function.symbol,
                     " in NVIDIA's driver (libcuda.so.1), found none: update the driver");
  }
  function.call = std::bit_cast<decltype(function.call)>(found);  // dlsym hands out data pointers
  return {};
}

// 12040 is CUDA 12.4.
FixedText<24> version_text(int version) {
  FixedText<24> text;
  text.append_all(version / 1000, '.', version % 1000 / 10);
  return text;
}

Result<void> require_version(const Driver& driver, int needed) {
  int version = 0;
  TRY(driver.call(driver.functions.driver_version, &version));
  if (version >= needed) return {};
  return Error::of(ErrorCode::unsupported, "expected an NVIDIA driver for CUDA ", version_text(needed).view(),
                   " or later, which this program's device code needs, found one for CUDA ",
                   version_text(version).view(), ": update the driver");
}

}  // namespace

Error Driver::error_of(const char* symbol, Status status) const {
  const char* name = nullptr;
  const char* text = nullptr;
  // A status that the driver does not know leaves them as they are, or null.
  if (functions.error_name(status, &name) != Status::success) name = nullptr;
  if (functions.error_text(status, &text) != Status::success) text = nullptr;
  const ErrorCode code = status == Status::out_of_memory ? ErrorCode::out_of_memory : ErrorCode::input_output;
  if (name == nullptr) return Error::of(code, symbol, ": status ", static_cast<int>(status), ", which has no name");
  return Error::of(code, symbol, ": ", name, " (", text == nullptr ? "no text" : text, ")");
}

Result<Driver> driver_from(const std::function<void*(const char*)>& lookup, int needed_version) {
  Driver driver;
  DriverFunctions& functions = driver.functions;
  TRY(find(functions.error_name, lookup));
  TRY(find(functions.error_text, lookup));
  TRY(find(functions.driver_version, lookup));
  // First of all: an old driver lacks names, and its age says more than they do.
  TRY(require_version(driver, needed_version));
  Result<void> found;
  for_each_function(functions, [&](auto& function) {
    if (found.ok()) found = find(function, lookup);
  });
  if (!found.ok()) return found.error();
  return driver;
}

}  // namespace ingot::cuda
