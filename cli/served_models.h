// What an image needs so that its program serves: models, keys and certificates at their places, and the command.
// Containers' images and machines' share it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "image/file_tree.h"

namespace ingot {

inline constexpr int default_served_port = 8080;  // which serve has unless it is told another

struct ServedModels {
  std::vector<std::string> models;  // files; none: the one that the engine carries
  std::string host = "0.0.0.0";     // all of version 4; ::, all of both versions
  int port = default_served_port;
  std::string key_file;                  // empty: anybody may ask
  std::string certificate, private_key;  // both empty: no TLS

  bool has_secrets() const { return !key_file.empty() || !private_key.empty(); }
};

// All but the models.
void add_served_options(const Command& command, ServedModels& served);

// Puts the files into the root, secrets for their owner alone, and says which words behind the program's name serve
// them: to whoever reaches the machine, for who does is said where it is started. What serve would refuse is refused.
Result<std::vector<std::string>> add_served_models(const ServedModels& served, image::FileTree& root);

}  // namespace ingot
