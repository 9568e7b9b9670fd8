// `ingot cast --format oci`: the server as an image for containers, instead of one that boots.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/served_models.h"

namespace ingot {

struct ServerImageOptions {
  ServedModels served;
  std::string engine;  // empty: this program
  std::string output;
  std::vector<std::string> arguments;    // instead of those that make it serve
  std::vector<std::string> files;        // SOURCE=DESTINATION
  std::vector<std::string> environment;  // NAME=VALUE
  std::string directory;                 // empty: the root
  bool dry_run = false, json = false;
};

// Writes it, or says what it would be, and reports on standard output.
Result<void> cast_server_image(const ServerImageOptions& options);

}  // namespace ingot
