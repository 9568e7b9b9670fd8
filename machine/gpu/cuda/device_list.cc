#include "machine/gpu/cuda/device_list.h"

#include <algorithm>

namespace ingot {
namespace {

using cuda::DeviceAttribute;
using cuda::DeviceHandle;
using cuda::Driver;

// "GPU-8f0c1a2b-...", as nvidia-smi writes it.
std::string text_of(const cuda::Uuid& uuid) {
  std::string text = "GPU-";
  for (int index = 0; index < 16; ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += "0123456789abcdef"[uuid.bytes[index] >> 4];
    text += "0123456789abcdef"[uuid.bytes[index] & 15];
  }
  return text;
}

Result<int> attribute(const Driver& driver, DeviceAttribute which, DeviceHandle device) {
  int value = 0;
  TRY(driver.call(driver.functions.device_attribute, &value, which, device));
  return value;
}

}  // namespace

Result<int> count_cuda_devices(const Driver& driver) {
  const auto& functions = driver.functions;
  const cuda::Status started = functions.initialize(0);
  if (started != cuda::Status::success && started != cuda::Status::no_device) {
    return driver.error_of(functions.initialize.symbol, started).within("while NVIDIA's driver was started");
  }
  int count = 0;
  if (started == cuda::Status::success) TRY(driver.call(functions.device_count, &count));
  if (count > 0) return count;
  return Error::of(ErrorCode::not_found,
                   "expected an NVIDIA GPU, found NVIDIA's driver and no GPU that it shows to this process");
}

Result<DeviceInformation> describe_cuda_device(const Driver& driver, int index) {
  const auto& functions = driver.functions;
  DeviceInformation information;
  information.index = index;
  DeviceHandle device = 0;
  TRY(driver.call(functions.device_get, &device, index));
  char name[256] = {};
  TRY(driver.call(functions.device_name, static_cast<char*>(name), static_cast<int>(sizeof name) - 1, device));
  information.name = name;
  cuda::Uuid uuid{};
  TRY(driver.call(functions.device_uuid, &uuid, device));
  information.uuid = text_of(uuid);
  const int major = TRY(attribute(driver, DeviceAttribute::capability_major, device));
  information.capability = 10 * major + TRY(attribute(driver, DeviceAttribute::capability_minor, device));
  information.features = features_of_capability(information.capability);
  information.multiprocessors = TRY(attribute(driver, DeviceAttribute::multiprocessors, device));
  const int level2_bytes = TRY(attribute(driver, DeviceAttribute::level2_bytes, device));
  information.level2_bytes = static_cast<std::size_t>(std::max(level2_bytes, 0));
  TRY(driver.call(functions.device_memory, &information.memory_bytes, device));
  TRY(driver.call(functions.driver_version, &information.driver_version));
  return information;
}

Result<std::vector<DeviceInformation>> list_cuda_devices(const Driver& driver) {
  const int count = TRY(count_cuda_devices(driver));
  std::vector<DeviceInformation> devices;
  for (int index = 0; index < count; ++index) devices.push_back(TRY(describe_cuda_device(driver, index)));
  return devices;
}

FeatureSet features_of_capability(int capability) {
  FeatureSet features;
  if (capability >= 80) features.insert(Feature::sm_80);
  if (capability >= 89) features.insert(Feature::sm_89);
  if (capability == 90) features.insert(Feature::sm_90a);
  return features;
}

}  // namespace ingot
