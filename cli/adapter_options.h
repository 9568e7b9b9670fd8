// --adapter FILE[:SCALE], of commands with one model; for serve, NAME=FILE[:SCALE].
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "engine/session.h"

namespace ingot {

struct AdapterOption {
  std::string name;  // empty: none was given
  std::string path;
  float scale = 1;
};

// What stands behind the last colon is the scale where it is a number, unless there is a file of the whole name; what
// stands before the first = is the name, likewise, where it has no slash.
Result<AdapterOption> read_adapter_option(const std::string& text);

Option add_adapter_option(const Command& command, std::vector<std::string>& texts);

struct OpenedAdapters {
  std::vector<std::shared_ptr<const Adapter>> adapters;
  std::vector<std::string> names;  // the file's or folder's, without its ending, where none was given
  AdapterScales scales;
};

// In the order in which they were given.
Result<OpenedAdapters> open_adapters(const std::vector<std::string>& texts, const Model& model);

// Those of a session, for --json: path, scale, rank and how many weights each has; a list that may be empty.
nlohmann::json described_adapters(const SessionOptions& options);

}  // namespace ingot
