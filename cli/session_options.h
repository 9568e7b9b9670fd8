// Options that all commands with a model share: how it is run, and how the next token is chosen.
#pragma once

#include <functional>
#include <string>

#include "cli/command.h"
#include "engine/default_model.h"
#include "engine/sampler.h"
#include "engine/sampling_advice.h"
#include "engine/session.h"

namespace ingot {

// From `least` to 2^30. CLI11's own checks of a sign would name the greatest double as the other limit.
Check tokens_from(std::int64_t least);

// Opens a file, a folder, or the built-in model by its name.
Result<std::shared_ptr<const Model>> open_model_at(const std::string& path);

// Jinja source, instead of what the model's file has.
Result<std::string> read_template_file(const std::string& path);

// The name of a format or a mix of them, for what is written.
Check type_of_numbers();

// Of one that the model was not made for, and its rotation is not scaled to.
void warn_of_context(const Model& model, std::int64_t context);

struct ModelOptions {
  std::string path{default_model_name};
  SessionOptions session;
  std::string cache = "f16";
};

// MODEL, --threads, --context, --cache, --pack.
void add_model_options(const Command& command, ModelOptions& options);
// Returns what fills in, once a model is open, the options that were not given: from what its file advises.
using SamplerCompletion = std::function<Result<SamplerOptions>(const Model&)>;
SamplerCompletion add_sampler_options(const Command& command, SamplerOptions& options);

struct OpenedModel {
  std::shared_ptr<const Model> model;
  std::unique_ptr<Session> session;
};

// Opens the model and a session on it; warns of a context that the model was not made for.
Result<OpenedModel> open_model(const ModelOptions& options);

}  // namespace ingot
