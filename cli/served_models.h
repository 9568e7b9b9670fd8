// What an image needs so that its program serves: models, keys and certificates at their places, and the command.
// Containers' images and machines' share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "image/file_tree.h"

namespace ingot {

inline constexpr std::uint32_t default_served_port = 8080;  // which serve has unless it is told another

struct ServedModels {
  std::vector<std::string> models;  // files; none: the one that the engine carries
  std::string host = "0.0.0.0";     // all of version 4; ::, all of both versions
  std::optional<std::uint32_t> port;
  std::string key_file;                  // empty: anybody may ask
  std::string certificate, private_key;  // both empty: no TLS

  bool has_secrets() const { return !key_file.empty() || !private_key.empty(); }
  bool has_options() const { return port || has_secrets() || !certificate.empty(); }
};

// Where an image of `count` models has one: by its own name among several, because that is what clients call it.
std::string place_of_model(const std::string& model, std::size_t count);

// All but the models.
void add_served_options(const Command& command, ServedModels& served);

// What serve would refuse of them, before anything is read or written beside: two models of one name, keys and
// certificates that are missing or not right.
Result<void> check_served_models(const ServedModels& served);

// Puts the files into the root, secrets for their owner alone, and says which words behind the program's name serve
// them: to whoever reaches the machine, for who does is said where it is started.
Result<std::vector<std::string>> add_served_models(const ServedModels& served, image::FileTree& root);

}  // namespace ingot
