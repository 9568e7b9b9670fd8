#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/adapter_options.h"
#include "cli/compared_models.h"
#include "cli/gpu_program.h"
#include "cli/machine_json.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "engine/measure.h"
#include "profile/device_clock.h"

namespace ingot::model_bench_command {
namespace {

constexpr const char* examples =
    "Prompts are arbitrary tokens; generation is greedy. Figures are medians over the repeats, with half the\n"
    "interquartile range over the median as their spread. 'of the bandwidth limit' compares a decode step with the "
    "time\n"
    "this machine's measured reading peak needs for the weights, keys and values that the step must fetch; with "
    "--device,\n"
    "with what the device's measured copying rate would need. --compare times two models, or two settings of one\n"
    "(threads=, cache=, pack=always, pack=never, device=, joined by commas), in turn, and says how B's speed is to "
    "A's.\n"
    "\n"
    "Examples:\n"
    "  ingot bench model model.gguf\n"
    "  ingot bench model model.gguf --prompt 512 --generate 128 --threads 1 --json\n"
    "  ingot bench model model.gguf --depth 2048          with a long past\n"
    "  ingot bench model model.gguf --batch 8             eight sequences at once\n"
    "  ingot bench model --compare q8.gguf q4.gguf --repeat 9\n"
    "  ingot bench model model.gguf --compare threads=1 threads=2\n"
    "  ingot bench model model.gguf --device cuda         on the first GPU";

struct Options {
  ModelOptions model;
  GenerationRequest request;
  std::vector<std::string> compared;
  bool json = false;
};

// Of the device that ran the model.
struct DeviceOutcome {
  DeviceInformation information;
  std::size_t bytes = 0;  // weights, cache, activations and scratch
  std::int64_t host_layers = 0;
  double upload_seconds = 0;
  double capture_seconds = 0;
};

struct Outcome {
  nlohmann::json adapters = {};
  GenerationTiming timing;
  // Nothing where an accelerator's worker computes: what its processor can read is not this program's to measure.
  std::optional<double> bytes_per_second;  // that the machine can read, or its device copy
  double bandwidth_percent = 0;
  std::optional<DeviceOutcome> device;
};

// That computed: an accelerator's worker has as many as its broker gave it.
int threads_of(const Options& options, const Outcome& outcome) {
  const bool is_accelerator = outcome.device && outcome.device->information.takes_calls;
  return is_accelerator ? outcome.device->information.multiprocessors : options.model.session.threads;
}

Result<double> host_memory_rate(Session& session) {
  Context context = session.context_for_kernels();
  return TRY(cached_peaks(Machine::detect(), context.workers)).read_bytes_per_second;
}

// What bounds a decode step: the rate at which the processor of the session gets at its memory.
Result<double> memory_rate(Session& session) {
  if (session.device_side() == nullptr) return host_memory_rate(session);
  const DeviceSide& side = *session.device_side();
  DeviceClock clock = TRY(DeviceClock::create(side.device(), side.queue()));
  return clock.measure_copies();
}

Result<Outcome> measure(const Options& options) {
  const GenerationRequest& request = options.request;
  ModelOptions model = options.model;
  const std::int64_t needed = request.depth + request.prompt + request.generate;
  if (model.session.context == 0) model.session.context = needed;
  model.session.sequences = request.batch;
  const OpenedModel opened = TRY(open_model(model));
  Outcome outcome;
  outcome.adapters = described_adapters(opened.session->options());
  ProgressBar progress("generating", request.repeats);
  outcome.timing = TRY(measure_generation(*opened.session, request, [&] { progress.advance(""); }));
  if (const DeviceSide* side = opened.session->device_side()) {
    outcome.device = {side->device().information(), opened.session->device_bytes(), opened.session->host_layers(),
                      opened.upload_seconds, opened.session->recording_seconds()};
  }
  if (outcome.device && outcome.device->information.takes_calls) return outcome;
  outcome.bytes_per_second = TRY(memory_rate(*opened.session));
  const double host_bytes = outcome.timing.host_bytes;
  double least = (outcome.timing.decode_traffic.bytes() - host_bytes) / *outcome.bytes_per_second;
  if (host_bytes > 0) least += host_bytes / TRY(host_memory_rate(*opened.session));
  outcome.bandwidth_percent = 100 * least / outcome.timing.decode_step_seconds;
  return outcome;
}

void print_json(const Options& options, const Outcome& outcome) {
  const GenerationTiming& timing = outcome.timing;
  nlohmann::json document = {{"model", options.model.path},
                             {"adapters", outcome.adapters},
                             {"threads", threads_of(options, outcome)},
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
                             {"decode_cache_bytes", timing.decode_traffic.cache}};
  if (outcome.device) {
    document["device"] = outcome.device->information.name;
    document["device_bytes"] = outcome.device->bytes;
    document["host_layers"] = outcome.device->host_layers;
    document["upload_seconds"] = outcome.device->upload_seconds;
    document["capture_seconds"] = outcome.device->capture_seconds;
  }
  if (outcome.bytes_per_second) {
    document["bandwidth_percent"] = outcome.bandwidth_percent;
    document[outcome.device ? "copy_bytes_per_second" : "read_bytes_per_second"] = *outcome.bytes_per_second;
  }
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_text(const Options& options, const Outcome& outcome) {
  const GenerationTiming& timing = outcome.timing;
  const GenerationRequest& request = options.request;
  const auto spread = [](const Summary& summary) { return 100 * summary.spread; };
  std::printf("%s  %d thread(s), %lld tokens in, %lld out, %lld before them, batch %d, median of %d\n",
              coloured(options.model.path, Colour::bold).c_str(), threads_of(options, outcome),
              static_cast<long long>(request.prompt), static_cast<long long>(request.generate),
              static_cast<long long>(request.depth), request.batch, request.repeats);
  std::printf("  prefill      %9.1f tokens/s  +- %.1f%%\n", timing.prefill_tokens_per_second.median,
              spread(timing.prefill_tokens_per_second));
  std::printf("  decode       %9.1f tokens/s  +- %.1f%%\n", timing.decode_tokens_per_second.median,
              spread(timing.decode_tokens_per_second));
  std::printf("  first token  %9.1f ms        +- %.1f%%\n", 1000 * timing.first_token_seconds.median,
              spread(timing.first_token_seconds));
  std::printf("  peak memory  %9.1f MB\n", static_cast<double>(peak_bytes()) / 1e6);
  if (outcome.device) {
    std::printf("  %-12s %9.1f MB of its memory; the weights were there after %.2f s\n",
                outcome.device->information.name.c_str(), static_cast<double>(outcome.device->bytes) / 1e6,
                outcome.device->upload_seconds);
  }
  std::printf("  a decode step fetches %.1f MB of weights and %.1f MB of keys and values",
              timing.decode_traffic.weights / 1e6, timing.decode_traffic.cache / 1e6);
  if (outcome.bytes_per_second) {
    std::printf(": %.0f%% of the bandwidth limit (%.1f GB/s)", outcome.bandwidth_percent,
                *outcome.bytes_per_second / 1e9);
  }
  std::printf("\n");
}

Result<void> run(const Options& options) {
  if (!options.compared.empty()) {
    return compare_models(options.model, options.request, options.compared, options.json);
  }
  const Outcome outcome = TRY(measure(options));
  if (outcome.device) warn_of_times(outcome.device->information);
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
  add_device_model_options(command, options->model);
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
  command.add_option("--compare", options->compared, "A B: two models, or settings of one, timed in turn")
      .check(accepted_by("",
                         [](const std::string& word) -> Result<void> {
                           TRY(options_of_side({}, word));
                           return {};
                         }))
      .two_words();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, bench, &exit_code] {
    const Result<void> order = bench.require_no_options();
    exit_code = order.ok() ? finish_command(run(*options)) : refuse_usage(order.error());
  });
}

}  // namespace ingot::model_bench_command
