#include "cli/session_options.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <sstream>

#include "cli/adapter_options.h"
#include "cli/gpu_program.h"
#include "cli/interrupt_watch.h"
#include "cli/open_place.h"
#include "cli/terminal.h"
#include "convert/type_mix.h"
#include "engine/device_memory.h"
#include "machine/limits.h"
#include "model/files/quoted.h"

namespace ingot {

Check tokens_from(std::int64_t least) { return between(least, std::int64_t{1} << 30); }

Check type_of_numbers() {
  return accepted_by("", [](const std::string& name) -> Result<void> {
    TRY(find_type_mix(name));
    return {};
  });
}

void add_model_options(const Command& command, ModelOptions& options) {
  options.session.threads = usable_cpu_count();
  command
      .add_option(
          "MODEL", options.path,
          "a .gguf file, a folder with one, or a folder with config.json and model.safetensors; the model that the "
          "program carries where none is given")
      .capture_default_str();
  add_adapter_option(command, options.adapters);
  command.add_option("--threads", options.session.threads, "worker threads")
      .check(between(1, 1024))
      .capture_default_str();
  command
      .add_option("--context", options.session.context,
                  "most tokens of a sequence; 0: the model's, at most 4096; beyond the model's with a warning")
      .check(tokens_from(0));
  command.add_option("--cache", options.cache, "how keys and values are kept: f32, f16 or q8_0")
      .check(one_of({"f32", "f16", "q8_0"}))
      .capture_default_str();
  const auto packing = [&command, &options](const std::string& name, WeightPacking chosen, const std::string& text) {
    return command.add_flag_callback(name, [&options, chosen] { options.session.packing = chosen; }, text);
  };
  const Option pack =
      packing("--pack", WeightPacking::always,
              "put all weights that can be into the order that decoding reads fastest (see ingot pack); without this, "
              "those for which it pays on this machine");
  packing("--no-pack", WeightPacking::never, "leave weights as the file has them").excludes(pack);
}

void add_device_model_options(const Command& command, ModelOptions& options) {
  add_model_options(command, options);
  add_place_option(command, options.device);
  add_split_option(command, options.split);
}

Option add_split_option(const Command& command, std::string& split) {
  return command
      .add_option(
          "--split", split,
          "what of a model does not fit a --device: auto leaves as many of its first layers as needed to the CPU; "
          "with none it is refused")
      .check(one_of({"none", "auto"}))
      .capture_default_str();
}

Result<void> require_device_for_split(const std::string& device, const std::string& split) {
  if (split == "none" || device != "cpu") return {};
  return Error::of(ErrorCode::invalid_argument, "--split auto: expected a --device to split with, found cpu");
}

SamplerCompletion add_sampler_options(const Command& command, SamplerOptions& options) {
  const Check share = between(0.0, 1.0);
  const Check penalty = between(-1000.0, 1000.0);
  const Option temperature =
      command
          .add_option(
              "--temperature", options.temperature,
              "0 takes the most likely token; without this and the options below, what the model's file advises")
          .check(between(0.0, 1000.0))
          .capture_default_str();
  const Option top_k =
      command.add_option("--top-k", options.top_k, "only the k most likely; 0: all").check(tokens_from(0));
  const Option top_p =
      command.add_option("--top-p", options.top_p, "only the most likely that together reach p; 1: all").check(share);
  const Option min_p =
      command
          .add_option("--min-p", options.min_p, "only those at least this likely, relative to the most likely; 0: all")
          .check(share);
  const Option repetition =
      command.add_option("--repetition-penalty", options.repetition, "above 1 makes repetition less likely")
          .check(between(0.001, 1000.0));
  command.add_option("--presence-penalty", options.presence, "subtracted once a token has occurred").check(penalty);
  command.add_option("--frequency-penalty", options.frequency, "subtracted for every time it has occurred")
      .check(penalty);
  command.add_option("--seed", options.seed, "the same seed draws the same tokens").capture_default_str();
  return [=, &options](const Model& model) -> Result<SamplerOptions> {
    SamplingAdvice advice = TRY(read_sampling_advice(model.metadata()));
    if (temperature.is_given()) advice.temperature.reset();
    if (top_k.is_given()) advice.top_k.reset();
    if (top_p.is_given()) advice.top_p.reset();
    if (min_p.is_given()) advice.min_p.reset();
    if (repetition.is_given()) advice.repetition.reset();
    SamplerOptions completed = options;
    follow(advice, completed);
    return completed;
  };
}

Result<std::shared_ptr<const Model>> open_model_at(const std::string& path, const ModelUse& use) {
  return path == default_model_name ? Model::open_default(use) : Model::open(path, use);
}

Result<std::string> read_text_file(const std::string& path, std::string_view what) {
  // A folder can be opened, and reads as nothing.
  if (std::error_code unknown; std::filesystem::is_directory(path, unknown)) {
    return Error::of(ErrorCode::input_output, Quoted{path}, ": expected a file with ", what, ", found a folder");
  }
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.good() || file.eof()) return text.str();
  std::error_code unknown;
  const std::string_view found = std::filesystem::exists(path, unknown) ? "one that cannot be read" : "no such file";
  return Error::of(ErrorCode::input_output, Quoted{path}, ": expected a file with ", what, ", found ", found);
}

void warn_of_context(const Model& model, std::int64_t context) {
  const std::int64_t limit = model.facts().scaled_context;
  if (context <= limit) return;
  print_warning("expected a context of at most the " + std::to_string(limit) +
                " tokens that the model was made for, found " + std::to_string(context) +
                ": what it says beyond them makes little sense; give a smaller --context, or none");
}

Result<std::shared_ptr<const DeviceModel>> upload_model(const std::shared_ptr<const Model>& model,
                                                        const std::shared_ptr<Device>& device,
                                                        const SessionOptions& session, const std::string& split) {
  std::int64_t host_layers = 0;
  if (split == "auto") {
    host_layers = TRY(find_host_layers(*device, model, session));
    if (host_layers > 0) {
      print_note("[" + std::to_string(host_layers) + " of " + std::to_string(model->facts().layers) +
                 " layers stay on the CPU: there is no room for them on " + device->information().name + "]");
    }
  } else {
    const DeviceNeeds needs = TRY(Session::needs_on(device->information(), model, session));
    TRY(require_device_memory(*device, needs));
  }
  const InterruptWatch watch;
  const auto begin = std::chrono::steady_clock::now();
  std::optional<ProgressBar> bar;
  const auto follow = [&](std::uint64_t done, std::uint64_t bytes) {
    const auto in_mebibytes = [](std::uint64_t count) { return static_cast<int>(count >> 20); };
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(1)) {
      if (!bar) bar.emplace("uploading", in_mebibytes(bytes));
      bar->reach(in_mebibytes(done), "MiB");
    }
    return !watch.is_interrupted();
  };
  return DeviceModel::upload(model, device, follow, Session::use_of(device->information(), session, host_layers));
}

// Who takes calls computes as a host does.
std::int64_t chunk_for(const Device& device, std::int64_t chunk) {
  return device.information().takes_calls ? chunk : std::max(chunk, device_chunk);
}

Result<OpenedModel> open_model(const ModelOptions& options) {
  OpenedModel opened;
  TRY(require_device_for_split(options.device, options.split));
  // A driver takes a fifth of a second to begin, and a large vocabulary half as long to be read.
  std::future<Result<std::unique_ptr<Device>>> opened_device;
  if (options.device != "cpu") {
    opened_device = std::async(std::launch::async, [&options] { return open_place(options.device); });
  }
  opened.model = TRY(open_model_at(options.path, options.use));
  SessionOptions session = options.session;
  session.cache = options.cache == "f32" ? DType::f32 : options.cache == "f16" ? DType::f16 : DType::q8_0;
  OpenedAdapters adapters = TRY(open_adapters(options.adapters, *opened.model));
  session.adapters = std::move(adapters.adapters);
  session.adapter_scales = std::move(adapters.scales);
  if (options.device != "cpu") {
    const std::shared_ptr<Device> device = TRY(opened_device.get());
    session.chunk = chunk_for(*device, session.chunk);
    const auto begin = std::chrono::steady_clock::now();
    session.device = TRY(upload_model(opened.model, device, session, options.split));
    opened.upload_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  Result<std::unique_ptr<Session>> created = Session::create(opened.model, session);
  if (!created.ok()) return created.error().within(Quoted{options.path});
  opened.session = std::move(created).value();
  warn_of_context(*opened.model, opened.session->context());
  return opened;
}

}  // namespace ingot
