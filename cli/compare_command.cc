#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session_options.h"
#include "cli/terminal.h"
#include "engine/golden_comparison.h"
#include "model/files/quoted.h"

namespace ingot::compare_command {
namespace {

constexpr const char* examples =
    "Runs the tokens of a recording (a safetensors file with tokens.0, hidden.0.0, hidden.0.1, ..., logits.0) and\n"
    "compares what enters the first block, what leaves each block, and the result. Names the first group of steps "
    "whose\n"
    "output differs by more than the tolerance, relative to the largest recorded magnitude. Exit code 1 where one "
    "does.\n"
    "\n"
    "Examples:\n"
    "  ingot compare folder/ --golden folder/golden.safetensors\n"
    "  ingot compare model.gguf --golden recorded.safetensors --tolerance 0.05 --cache f16\n"
    "  ingot compare folder/ --golden folder/golden.safetensors --device cuda  by the rows of the first GPU";

struct Options {
  ModelOptions model;
  std::string golden;
  double tolerance = 1e-4;
  bool json = false;
};

std::string steps_text(const GoldenCheckpoint& checkpoint) {
  if (checkpoint.steps == 1) return checkpoint.makes;
  return checkpoint.first_step + " to " + checkpoint.makes + " (" + std::to_string(checkpoint.steps) + " steps)";
}

void print_text(const Options& options, const GoldenComparison& comparison) {
  for (const GoldenCheckpoint& checkpoint : comparison.checkpoints) {
    const std::string mark =
        checkpoint.diverges ? coloured("differs", Colour::red) : coloured("agrees ", Colour::green);
    std::printf("%s  %-16s %10.2e  %s\n", mark.c_str(), checkpoint.name.c_str(), checkpoint.error,
                coloured(steps_text(checkpoint), Colour::dim).c_str());
  }
  if (!comparison.first_divergence) {
    std::printf("%zu checkpoints agree within %g\n", comparison.checkpoints.size(), options.tolerance);
    return;
  }
  const GoldenCheckpoint& first = comparison.checkpoints[*comparison.first_divergence];
  std::printf("first divergence: %s, made by %s: %g, where %g is allowed\n", first.name.c_str(),
              steps_text(first).c_str(), first.error, options.tolerance);
}

void print_json(const Options& options, const GoldenComparison& comparison) {
  nlohmann::json document = {{"model", options.model.path},    {"golden", options.golden},
                             {"tolerance", options.tolerance}, {"agrees", !comparison.first_divergence},
                             {"first_divergence", nullptr},    {"checkpoints", nlohmann::json::array()}};
  for (const GoldenCheckpoint& checkpoint : comparison.checkpoints) {
    document["checkpoints"].push_back({{"name", checkpoint.name},
                                       {"first_step", checkpoint.first_step},
                                       {"makes", checkpoint.makes},
                                       {"error", checkpoint.error},
                                       {"diverges", checkpoint.diverges}});
  }
  if (comparison.first_divergence) {
    document["first_divergence"] = document["checkpoints"][*comparison.first_divergence];
  }
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

Result<int> run(const Options& options) {
  const Golden golden = TRY(Golden::open(options.golden));
  const auto tokens = static_cast<std::int64_t>(golden.tokens().size());
  ModelOptions model = options.model;
  // Some models turn positions by how long the context is: a recording knows of its own tokens only.
  if (model.session.context == 0) model.session.context = tokens;
  model.session.chunk = std::max(model.session.chunk, tokens);
  const OpenedModel opened = TRY(open_model(model));
  const Result<GoldenComparison> compared = compare_with_golden(*opened.session, golden, options.tolerance);
  if (!compared.ok()) return compared.error().within(Quoted{options.model.path}, " with ", Quoted{options.golden});
  const GoldenComparison& comparison = compared.value();
  if (options.json) {
    print_json(options, comparison);
  } else {
    print_text(options, comparison);
  }
  return comparison.first_divergence ? exit_failure : exit_success;
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("compare", "find where a model parts from recorded values");
  command.footer(examples);
  options->model.cache = "f32";
  add_device_model_options(command, options->model);
  command.add_option("--golden", options->golden, "recorded values, a safetensors file").required();
  command.add_option("--tolerance", options->tolerance, "largest difference over the largest recorded magnitude")
      .check(between(0.0, 1000.0))
      .capture_default_str();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] {
    const Result<int> code = run(*options);
    if (!code.ok()) print_error(code.error().text());
    exit_code = code.ok() ? code.value() : exit_failure;
  });
}

}  // namespace ingot::compare_command
