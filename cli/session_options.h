// Options that all commands with a model share: how it is run, and how the next token is chosen.
#pragma once

#include <string>

#include "cli/command.h"
#include "engine/sampler.h"
#include "engine/session.h"

namespace ingot {

struct ModelOptions {
  std::string path;
  SessionOptions session;
  std::string cache = "f16";
};

// MODEL, --threads, --context, --cache.
void add_model_options(CLI::App& command, ModelOptions& options);
void add_sampler_options(CLI::App& command, SamplerOptions& options);

struct OpenedModel {
  std::shared_ptr<const Model> model;
  std::unique_ptr<Session> session;
};

// Opens the model and a session on it.
Result<OpenedModel> open_model(const ModelOptions& options);

}  // namespace ingot
