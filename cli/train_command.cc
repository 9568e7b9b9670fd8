#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli/session_options.h"
#include "cli/terminal.h"
#include "convert/output_path.h"
#include "model/files/quoted.h"
#include "train/record/preset.h"
#include "train/record/run_line.h"
#include "train/record/run_summary.h"
#include "train/training_run.h"

namespace ingot::train_command {
namespace {

constexpr const char* examples =
    "A configuration is a text of `key = value` lines; --keys lists all keys. Where the configuration names a\n"
    "checkpoint that exists, the run goes on from it. Ctrl-C writes a checkpoint and ends the run.\n"
    "\n"
    "Examples:\n"
    "  ingot train --preset tales --output tales.gguf      the model that this program carries\n"
    "  ingot train my.conf --set steps=2000                a configuration, with one key changed\n"
    "  ingot train my.conf --output m.gguf --type Q4_K_M   train what is left, then write the model\n"
    "  ingot train --preset tiny --set model=m.gguf --set lora_rank=8 --set data=notes.txt --output tuned.gguf";

struct Options {
  std::string configuration;
  std::string preset;
  std::vector<std::string> settings;
  std::string output;
  std::string type = "F32";
  bool json = false;
  bool keys = false;
};

std::atomic<bool> is_interrupted{false};

// The first Ctrl-C ends the run in order; the second one ends the program.
void interrupt(int) {
  is_interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

Result<void> apply_setting(TrainingConfiguration& configuration, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) {
    return Error::of(ErrorCode::invalid_argument, "expected KEY=VALUE, found ", Quoted{setting});
  }
  return set_configuration_key(configuration, setting.substr(0, equals), setting.substr(equals + 1));
}

Result<TrainingConfiguration> configuration_of(const Options& options) {
  TrainingConfiguration configuration;
  if (!options.preset.empty()) configuration = TRY(preset_configuration(options.preset));
  if (!options.configuration.empty()) TRY(apply_configuration_file(configuration, options.configuration));
  for (const std::string& setting : options.settings) TRY(apply_setting(configuration, setting));
  return configuration;
}

// Nothing that the run reads is what it writes. A folder of a model may hold what an earlier run kept there.
Result<void> check_outputs(const Options& options, const TrainingConfiguration& configuration) {
  std::vector<std::string> inputs = configuration.data;
  inputs.insert(inputs.end(), {configuration.model, configuration.tokenizer, options.configuration});
  for (const std::string& input : inputs) {
    TRY(require_other_file(input, options.output));
    std::error_code ignored;
    if (std::filesystem::is_directory(input, ignored)) continue;
    for (const std::string& kept : {configuration.checkpoint, configuration.log, configuration.plot}) {
      TRY(require_other_file(input, kept));
    }
  }
  return {};
}

// A line that is drawn over while the run goes on, on a terminal.
class StatusLine {
 public:
  explicit StatusLine(bool is_wanted) : is_visible_(is_wanted && is_terminal(stderr)) {}
  ~StatusLine() { erase(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::string& text) {
    if (!is_visible_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    is_drawn_ = true;
  }
  void erase() {
    if (is_drawn_) std::fprintf(stderr, "\r\033[K");
    is_drawn_ = false;
  }

 private:
  bool is_visible_;
  bool is_drawn_ = false;
};

std::string bar_of(double share) {
  constexpr int width = 24;
  const int done = static_cast<int>(share * width);
  return "[" + std::string(static_cast<std::size_t>(done), '#') +
         std::string(static_cast<std::size_t>(width - done), '.') + "]";
}

std::string status_text(const RunStep& step, std::int64_t steps) {
  char text[256];
  const double share = static_cast<double>(step.step) / static_cast<double>(steps);
  const double left = step.tokens_per_second > 0
                          ? static_cast<double>(steps - step.step) *
                                (static_cast<double>(step.tokens) / static_cast<double>(step.step)) /
                                step.tokens_per_second
                          : 0;
  std::snprintf(text, sizeof(text), "%s step %lld/%lld  loss %.4f  gradient %.3f  rate %.2e  %.0f tokens/s  %s left",
                bar_of(share).c_str(), static_cast<long long>(step.step), static_cast<long long>(steps), step.loss,
                step.gradient_norm, step.learning_rate, step.tokens_per_second, duration_text(left).c_str());
  return text;
}

void print_heading(const TrainingRun& run) {
  const TrainingConfiguration& configuration = run.configuration();
  std::printf("%lld parameters, %llu windows of %lld tokens to learn from, %llu to validate; %.1f MiB of tensors\n",
              static_cast<long long>(run.trainer().parameters().count()),
              static_cast<unsigned long long>(run.data().set.training_windows()),
              static_cast<long long>(configuration.length),
              static_cast<unsigned long long>(run.data().set.validation_windows()),
              static_cast<double>(run.trainer().peak_bytes()) / (1 << 20));
  if (run.is_resumed()) {
    std::printf("going on from step %lld of %s\n", static_cast<long long>(run.steps_done()),
                configuration.checkpoint.c_str());
  }
  std::fflush(stdout);
}

Result<void> run(const Options& options) {
  if (options.keys) {
    std::printf("%s", describe_keys().c_str());
    return {};
  }
  const TypeMix* mix = TRY(find_type_mix(options.type));
  const TrainingConfiguration configuration = TRY(configuration_of(options));
  TRY(check_outputs(options, configuration));
  StatusLine status(!options.json);
  TrainingEvents events;
  events.preparing = [&](std::string_view what, double share) { status.show(bar_of(share) + " " + std::string(what)); };
  events.stepped = [&](const RunStep& step) {
    if (options.json) {
      std::printf("%s\n", run_line(step).c_str());
      std::fflush(stdout);
      return;
    }
    if (step.validation_loss) {
      status.erase();
      std::printf("step %lld: loss %.4f, validation loss %.4f\n", static_cast<long long>(step.step), step.loss,
                  *step.validation_loss);
      std::fflush(stdout);
    }
    status.show(status_text(step, configuration.steps));
  };
  events.should_stop = [] { return is_interrupted.load(); };
  const std::unique_ptr<TrainingRun> training = TRY(TrainingRun::open(configuration, events));
  status.erase();
  if (!options.json) print_heading(*training);
  std::signal(SIGINT, interrupt);
  const RunState state = TRY(training->run());
  status.erase();
  if (state == RunState::stopped) {
    const bool is_kept = !training->configuration().checkpoint.empty();
    std::fprintf(stderr, "stopped after step %lld; %s\n", static_cast<long long>(training->steps_done()),
                 is_kept ? ("the same command goes on from " + training->configuration().checkpoint).c_str()
                         : "nothing is kept, because the configuration names no checkpoint");
    return {};
  }
  if (options.output.empty()) return {};
  const std::vector<std::string> notes = TRY(training->export_gguf(options.output, *mix));
  for (const std::string& note : notes) {
    std::fprintf(stderr, "%s %s\n", coloured("note:", Colour::yellow, stderr).c_str(), note.c_str());
  }
  if (!options.json) std::printf("wrote %s\n", options.output.c_str());
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("train", "train a model, from nothing or from a model file");
  command.footer(examples);
  command.add_option("CONFIG", options->configuration, "a configuration file");
  command.add_option("--preset", options->preset, "a configuration to begin with: tales, tiny")
      .check(accepted_by("", [](const std::string& name) -> Result<void> {
        TRY(preset_configuration(name));
        return {};
      }));
  command.add_option("--set", options->settings, "KEY=VALUE: changes one key of the configuration")
      .take_all()
      .one_word_each_time()
      .check(accepted_by("", [](const std::string& setting) {
        TrainingConfiguration unused;
        return apply_setting(unused, setting);
      }));
  command.add_option("--output", options->output, "the GGUF file to write at the end");
  command.add_option("--type", options->type, "the format of its numbers (see ingot quantize)")
      .check(type_of_numbers())
      .capture_default_str();
  command.add_flag("--keys", options->keys, "list the configuration's keys");
  command.add_flag("--json", options->json, "a JSON object a step on standard output");
  command.callback([options, &exit_code] {
    if (!options->keys && options->preset.empty() && options->configuration.empty()) {
      exit_code = refuse_usage(Error::of(ErrorCode::invalid_argument,
                                         "expected a configuration file or --preset, found neither: --keys lists what "
                                         "a configuration says"));
      return;
    }
    exit_code = finish_command(run(*options));
  });
}

}  // namespace ingot::train_command
