#include <memory>
#include <nlohmann/json.hpp>

#include "cli/machine_json.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "engine/measure.h"

namespace ingot::model_bench_command {
namespace {

constexpr const char* examples =
    "Prompts are arbitrary tokens; generation is greedy. Figures are medians over the repeats, with half the\n"
    "interquartile range over the median as their spread. 'of the bandwidth limit' compares a decode step with the "
    "time\n"
    "this machine's measured reading peak needs for the weights, keys and values that the step must fetch.\n"
    "\n"
    "Examples:\n"
    "  ingot bench model model.gguf\n"
    "  ingot bench model model.gguf --prompt 512 --generate 128 --threads 1 --json\n"
    "  ingot bench model model.gguf --depth 2048          with a long past\n"
    "  ingot bench model model.gguf --batch 8             eight sequences at once";

struct Options {
  ModelOptions model;
  GenerationRequest request;
  bool json = false;
};

struct Outcome {
  GenerationTiming timing;
  Peaks peaks;
  double bandwidth_percent = 0;
};

Result<Outcome> measure(const Options& options) {
  const GenerationRequest& request = options.request;
  ModelOptions model = options.model;
  const std::int64_t needed = request.depth + request.prompt + request.generate;
  if (model.session.context == 0) model.session.context = needed;
  model.session.sequences = request.batch;
  const OpenedModel opened = TRY(open_model(model));
  Outcome outcome;
  ProgressBar progress("generating", request.repeats);
  outcome.timing = TRY(measure_generation(*opened.session, request, [&] { progress.advance(""); }));
  Context context = opened.session->context_for_kernels();
  outcome.peaks = TRY(cached_peaks(Machine::detect(), context.workers));
  const double least = outcome.timing.decode_traffic.bytes() / outcome.peaks.read_bytes_per_second;
  outcome.bandwidth_percent = 100 * least / outcome.timing.decode_step_seconds;
  return outcome;
}

void print_json(const Options& options, const Outcome& outcome) {
  const GenerationTiming& timing = outcome.timing;
  const nlohmann::json document = {{"model", options.model.path},
                                   {"threads", options.model.session.threads},
                                   {"prompt", options.request.prompt},
                                   {"generate", options.request.generate},
                                   {"depth", options.request.depth},
                                   {"batch", options.request.batch},
                                   {"repeat", options.request.repeats},
                                   {"prefill_tokens_per_second", timing.prefill_tokens_per_second.median},
                                   {"prefill_spread", timing.prefill_tokens_per_second.spread},
                                   {"decode_tokens_per_second", timing.decode_tokens_per_second.median},
                                   {"decode_spread", timing.decode_tokens_per_second.spread},
                                   {"first_token_ms", 1000 * timing.first_token_seconds.median},
                                   {"first_token_spread", timing.first_token_seconds.spread},
                                   {"peak_bytes", peak_bytes()},
                                   {"decode_weight_bytes", timing.decode_traffic.weights},
                                   {"decode_cache_bytes", timing.decode_traffic.cache},
                                   {"read_bytes_per_second", outcome.peaks.read_bytes_per_second},
                                   {"bandwidth_percent", outcome.bandwidth_percent}};
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_text(const Options& options, const Outcome& outcome) {
  const GenerationTiming& timing = outcome.timing;
  const GenerationRequest& request = options.request;
  const auto spread = [](const Summary& summary) { return 100 * summary.spread; };
  std::printf("%s  %d thread(s), %lld tokens in, %lld out, %lld before them, batch %d, median of %d\n",
              coloured(options.model.path, Colour::bold).c_str(), options.model.session.threads,
              static_cast<long long>(request.prompt), static_cast<long long>(request.generate),
              static_cast<long long>(request.depth), request.batch, request.repeats);
  std::printf("  prefill      %9.1f tokens/s  +- %.1f%%\n", timing.prefill_tokens_per_second.median,
              spread(timing.prefill_tokens_per_second));
  std::printf("  decode       %9.1f tokens/s  +- %.1f%%\n", timing.decode_tokens_per_second.median,
              spread(timing.decode_tokens_per_second));
  std::printf("  first token  %9.1f ms        +- %.1f%%\n", 1000 * timing.first_token_seconds.median,
              spread(timing.first_token_seconds));
  std::printf("  peak memory  %9.1f MB\n", static_cast<double>(peak_bytes()) / 1e6);
  std::printf(
      "  a decode step fetches %.1f MB of weights and %.1f MB of keys and values: %.0f%% of the bandwidth limit"
      " (%.1f GB/s)\n",
      timing.decode_traffic.weights / 1e6, timing.decode_traffic.cache / 1e6, outcome.bandwidth_percent,
      outcome.peaks.read_bytes_per_second / 1e9);
}

Result<void> run(const Options& options) {
  const Outcome outcome = TRY(measure(options));
  if (options.json) {
    print_json(options, outcome);
  } else {
    print_text(options, outcome);
  }
  return {};
}

}  // namespace

void add(const Command& bench, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = bench.add_subcommand("model", "time a model: prefill, decode, first token, memory");
  command.footer(examples);
  add_model_options(command, options->model);
  command.add_option("--prompt", options->request.prompt, "tokens to prefill")
      .check(tokens_from(1))
      .capture_default_str();
  command.add_option("--generate", options->request.generate, "tokens to decode after the first")
      .check(tokens_from(1))
      .capture_default_str();
  command.add_option("--depth", options->request.depth, "tokens that a sequence holds before the prompt")
      .check(tokens_from(0))
      .capture_default_str();
  command.add_option("--batch", options->request.batch, "sequences at once")
      .check(between(1, 4096))
      .capture_default_str();
  command.add_option("--repeat", options->request.repeats, "rounds").check(between(1, 10000)).capture_default_str();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = finish_command(run(*options)); });
}

}  // namespace ingot::model_bench_command
