#include <charconv>

#include "machine/gpu/cuda/cuda_device.h"
#include "machine/gpu/cuda/driver.h"
#include "machine/gpu/device.h"
#include "machine/gpu/emulated/device.h"

namespace ingot {
namespace {

Error unknown_device(std::string_view name) {
  return Error::of(ErrorCode::invalid_argument, "expected cpu, cuda, cuda:1 or the like, or emulated, found '", name,
                   "'");
}

// "cuda" is "cuda:0".
Result<int> index_of(std::string_view name) {
  std::string_view digits = name.substr(4);
  if (digits.empty()) return 0;
  int index = 0;
  if (!digits.starts_with(':')) return unknown_device(name);
  digits.remove_prefix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || index < 0) return unknown_device(name);
  return index;
}

}  // namespace

Result<void> check_device_name(std::string_view name) {
  if (name == "emulated") return {};
  if (!name.starts_with("cuda")) return unknown_device(name);
  TRY(index_of(name));
  return {};
}

Result<std::unique_ptr<Device>> open_device(std::string_view name) {
  if (name == "emulated") return std::unique_ptr<Device>(TRY(EmulatedDevice::create()));
  TRY(check_device_name(name));
  const int index = TRY(index_of(name));
  const cuda::Driver driver = TRY(cuda::load_driver());
  return std::unique_ptr<Device>(TRY(CudaDevice::create(driver, index)));
}

}  // namespace ingot
