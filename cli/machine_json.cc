#include "cli/machine_json.h"

#include <nlohmann/json.hpp>

namespace ingot {

std::string_view name_of(CacheKind kind) {
  switch (kind) {
    case CacheKind::data: return "data";
    case CacheKind::instruction: return "instruction";
    case CacheKind::unified: return "unified";
  }
  return "unknown";
}

nlohmann::json json_of(const Peaks& peaks) {
  return {{"threads", peaks.threads},
          {"load", peaks.load},
          {"read_bytes_per_second", peaks.read_bytes_per_second},
          {"write_bytes_per_second", peaks.write_bytes_per_second},
          {"copy_bytes_per_second", peaks.copy_bytes_per_second},
          {"cache_read_bytes_per_second", peaks.cache_read_bytes_per_second},
          {"fma_flops", peaks.fma_flops},
          {"int8_dot_operations", peaks.int8_dot_operations},
          {"int8_matrix_operations", peaks.int8_matrix_operations},
          {"bf16_flops", peaks.bf16_flops}};
}

nlohmann::json json_of(const Machine& machine) {
  nlohmann::json caches = nlohmann::json::array();
  for (const Cache& cache : machine.caches) {
    caches.push_back({{"level", cache.level},
                      {"kind", name_of(cache.kind)},
                      {"bytes", cache.size.count()},
                      {"line_bytes", cache.line_bytes},
                      {"shared_by_cpus", cache.shared_by_cpus}});
  }
  return {{"architecture", name_of(machine.architecture)},
          {"cpu_model", machine.cpu_model},
          {"features", feature_names(machine.features)},
          {"caches", caches},
          {"online_cpus", machine.online_cpus},
          {"usable_cpus", machine.usable_cpus},
          {"memory_bytes", machine.memory.count()}};
}

nlohmann::json json_of(const DeviceInformation& device) {
  return {{"index", device.index},
          {"name", device.name},
          {"uuid", device.uuid},
          {"capability", device.capability},
          {"multiprocessors", device.multiprocessors},
          {"level2_bytes", device.level2_bytes},
          {"memory_bytes", device.memory_bytes},
          {"driver_version", device.driver_version},
          {"features", feature_names(device.features)}};
}

nlohmann::json json_of(const DevicePeaks& peaks) {
  return {{"read_bytes_per_second", peaks.rates.read_bytes_per_second},
          {"write_bytes_per_second", peaks.rates.write_bytes_per_second},
          {"copy_bytes_per_second", peaks.rates.copy_bytes_per_second},
          {"cache_read_bytes_per_second", peaks.rates.cache_read_bytes_per_second},
          {"fma_flops", peaks.rates.fma_flops},
          {"bf16_flops", peaks.rates.bf16_flops},
          {"int8_matrix_operations", peaks.rates.int8_matrix_operations},
          {"upload_bytes_per_second", peaks.upload_bytes_per_second},
          {"launch_seconds", peaks.launch_seconds}};
}

}  // namespace ingot
