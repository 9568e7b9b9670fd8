// The machine as JSON and as text, for every command that names it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "machine/feature_names.h"
#include "machine/gpu/device.h"
#include "machine/machine.h"
#include "machine/peaks.h"
#include "profile/device_peaks.h"

namespace ingot {

std::string_view name_of(CacheKind kind);

nlohmann::json json_of(const Peaks& peaks);
nlohmann::json json_of(const Machine& machine);
nlohmann::json json_of(const DeviceInformation& device);
nlohmann::json json_of(const DevicePeaks& peaks);

}  // namespace ingot
