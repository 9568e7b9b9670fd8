// What `ingot cast` was asked for, and whether that can be meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/image/network_settings.h"
#include "base/result.h"
#include "cli/image_options.h"
#include "cli/served_models.h"

namespace ingot::cast_command {

struct Options {
  ServedModels served;  // whose models are cast also where nobody serves them
  std::string program, oci, root, output;
  std::vector<std::string> arguments, files, environment, rights, addresses, consumed, kernel_options;
  std::string directory;
  std::string format = "elf";
  std::optional<std::uint64_t> memory, limit, tmpfs, heap, descriptors;
  std::optional<std::uint32_t> cpus;
  bool serves = false, traces = false, dry_run = false, json = false;
  ProductOptions products;
};

// What the options say of each other is bad usage, and so are keys and certificates that no server would take.
Result<void> check_usage(const Options& options);

// The ways to an address, one for each version of IP.
Result<NetworkSettings> settings_of(const std::vector<std::string>& addresses);

}  // namespace ingot::cast_command
