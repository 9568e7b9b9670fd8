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
Result<std::shared_ptr<const Model>> open_model_at(const std::string& path, const ModelUse& use = {});

// The whole of it; `what` it should be is told where it cannot be read ("a template").
Result<std::string> read_text_file(const std::string& path, std::string_view what);

// The name of a format or a mix of them, for what is written.
Check type_of_numbers();

// Of one that the model was not made for, and its rotation is not scaled to.
void warn_of_context(const Model& model, std::int64_t context);

struct ModelOptions {
  std::string path{default_model_name};
  ModelUse use;
  SessionOptions session;
  std::string cache = "f16";
  std::string device = "cpu";
  std::string split = "none";
  std::vector<std::string> adapters = {};
};

// MODEL, --adapter, --threads, --context, --cache, --pack.
void add_model_options(const Command& command, ModelOptions& options);
// And --device and --split: of commands that read nothing of a pass but what it yields.
void add_device_model_options(const Command& command, ModelOptions& options);
// --split: auto, or none.
Option add_split_option(const Command& command, std::string& split);
// Returns what fills in, once a model is open, the options that were not given: from what its file advises.
using SamplerCompletion = std::function<Result<SamplerOptions>(const Model&)>;
SamplerCompletion add_sampler_options(const Command& command, SamplerOptions& options);

struct OpenedModel {
  std::shared_ptr<const Model> model;
  std::unique_ptr<Session> session;
  double upload_seconds = 0;  // that the weights took on their way to the device, if there is one
};

// Opens the model and a session on it; warns of a context that the model was not made for.
Result<OpenedModel> open_model(const ModelOptions& options);

// Brings weights to a device, for a session with these options. Fails before anything is taken where the device has too
// little memory for all of it, and where somebody presses Ctrl-C. Where `split` is auto, layers stay on the host for
// which there is no room, and a note says how many. What takes over a second shows how far it is.
Result<std::shared_ptr<const DeviceModel>> upload_model(const std::shared_ptr<const Model>& model,
                                                        const std::shared_ptr<Device>& device,
                                                        const SessionOptions& session, const std::string& split);
// Most tokens of a pass there.
std::int64_t chunk_for(const Device& device, std::int64_t chunk);
// Fails where layers were to stay on the host and there is no device.
Result<void> require_device_for_split(const std::string& device, const std::string& split);

}  // namespace ingot
