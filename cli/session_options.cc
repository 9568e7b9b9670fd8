#include "cli/session_options.h"

#include <fstream>
#include <sstream>

#include "cli/terminal.h"
#include "convert/type_mix.h"
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

Result<std::shared_ptr<const Model>> open_model_at(const std::string& path) {
  return path == default_model_name ? Model::open_default() : Model::open(path);
}

Result<std::string> read_template_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.good() || file.eof()) return text.str();
  return Error::of(ErrorCode::input_output, Quoted{path}, ": expected a template, found none");
}

void warn_of_context(const Model& model, std::int64_t context) {
  const std::int64_t limit = model.facts().scaled_context;
  if (context <= limit) return;
  print_warning("expected a context of at most the " + std::to_string(limit) +
                " tokens that the model was made for, found " + std::to_string(context) +
                ": what it says beyond them makes little sense; give a smaller --context, or none");
}

Result<OpenedModel> open_model(const ModelOptions& options) {
  OpenedModel opened;
  opened.model = TRY(open_model_at(options.path));
  SessionOptions session = options.session;
  session.cache = options.cache == "f32" ? DType::f32 : options.cache == "f16" ? DType::f16 : DType::q8_0;
  Result<std::unique_ptr<Session>> created = Session::create(opened.model, session);
  if (!created.ok()) return created.error().within(Quoted{options.path});
  opened.session = std::move(created).value();
  warn_of_context(*opened.model, opened.session->context());
  return opened;
}

}  // namespace ingot
