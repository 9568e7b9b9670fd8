// What a request is read against: the model that it names.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/sampler.h"

namespace ingot::protocol {

struct ServedModel {
  std::int64_t vocabulary = 0;       // tokens are below it
  std::int64_t embedding_width = 0;  // of its vectors; 0: it makes none
  // Whether its chat template has a role of developers. Where it has none, their messages are the system's.
  bool knows_developers = false;
  // For what a request does not say. OpenAI's temperature is 1; a model's file may advise another.
  SamplerOptions sampling = {.temperature = 1};
  std::optional<std::uint64_t> seed = {};  // the same; nothing: any
  bool tells_prompts = false;              // the same
  std::int64_t adapters = 0;               // that a request may name by number
};

}  // namespace ingot::protocol
