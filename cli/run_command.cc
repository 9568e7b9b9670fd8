#include <memory>
#include <nlohmann/json.hpp>

#include "cli/prompt.h"
#include "cli/session_options.h"
#include "cli/standard_input.h"
#include "cli/terminal.h"
#include "engine/generator.h"

namespace ingot::run_command {
namespace {

constexpr const char* examples =
    "Continues a text: of -p, or of standard input where that is a pipe or a file. With both, the input continues the\n"
    "text of -p on a new line. Greedy unless a temperature is given or the model's file advises one; the same seed "
    "gives\n"
    "the same text. Without a text, the built-in model tells a tale that is the same on every machine; with a\n"
    "temperature, one of its own.\n"
    "\n"
    "Examples:\n"
    "  ingot run model.gguf -p \"Once upon a time\"\n"
    "  ingot run model.gguf -p \"The capital of France is\" -n 20 --json\n"
    "  echo \"Once upon a time\" | ingot run model.gguf\n"
    "  ingot run model.gguf -p \"A summary of this text:\" <notes.txt\n"
    "  ingot run folder/ -p \"Dear reader\" --temperature 0.8 --top-p 0.95 --seed 7";

struct Options {
  ModelOptions model;
  SamplerOptions sampler;
  SamplerCompletion completed_sampler;
  std::string prompt;
  std::int64_t most_tokens = 256;
  bool parses_special = false;
  bool json = false;
};

double rate(std::int64_t tokens, double seconds) { return seconds > 0 ? static_cast<double>(tokens) / seconds : 0; }

void print_json(const Options& options, const std::vector<std::int32_t>& prompt, const GenerationReport& report) {
  const auto decoded = static_cast<std::int64_t>(report.tokens.size());
  const nlohmann::json document = {{"model", options.model.path},
                                   {"prompt_ids", prompt},
                                   {"ids", report.tokens},
                                   {"text", report.text},
                                   {"stop", name_of(report.reason)},
                                   {"prefill_tokens_per_second", rate(report.prompt_tokens, report.prefill_seconds)},
                                   {"decode_tokens_per_second", rate(decoded, report.decode_seconds)},
                                   {"first_token_ms", 1000 * report.prefill_seconds}};
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

// Where nothing is asked for.
std::string default_prompt(const Options& options) {
  const bool is_tale = options.model.path == default_model_name && options.sampler.temperature == 0;
  return is_tale ? std::string(default_opening) : std::string();
}

Result<std::string> text_of(const Options& options) {
  std::string piped;
  if (has_piped_input()) piped = TRY(read_standard_input());
  const std::string text = joined_prompt(options.prompt, std::move(piped));
  return text.empty() ? default_prompt(options) : readable("the prompt", text);
}

Result<void> run(const Options& options) {
  const std::string text = TRY(text_of(options));
  const OpenedModel opened = TRY(open_model(options.model));
  Session& session = *opened.session;
  const Tokenizer& tokenizer = *TRY(opened.model->tokenizer());
  const SamplerOptions chosen = TRY(options.completed_sampler(*opened.model));
  Sampler sampler = TRY(Sampler::create(session.table(), chosen));
  std::vector<std::int32_t> prompt =
      TRY(encode_with_warning(tokenizer, "the prompt", text, {.parses_special_tokens = options.parses_special}));
  // Without a text, the token that begins one is all there is to continue.
  if (prompt.empty() && tokenizer.bos() != no_token) prompt.push_back(tokenizer.bos());
  if (prompt.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected a prompt of at least one token, found none: give -p TEXT");
  }
  const int sequence = TRY(session.sequences().add());
  PromptProgress progress(session);
  bool is_begun = false;
  const GenerationReport report =
      TRY(generate(session, tokenizer, sampler, sequence, prompt, options.most_tokens, [&](std::string_view piece) {
        progress.erase();
        if (options.json) return true;
        // Not before the model has taken it: an error stands alone, and the bar has the line for itself.
        if (!is_begun) std::printf("%s", coloured(text, Colour::dim).c_str());
        is_begun = true;
        std::fwrite(piece.data(), 1, piece.size(), stdout);
        std::fflush(stdout);
        return true;
      }));
  if (options.json) {
    print_json(options, prompt, report);
    return {};
  }
  const auto decoded = static_cast<std::int64_t>(report.tokens.size());
  std::printf("\n");
  print_note("[" + std::to_string(report.prompt_tokens) + " tokens in, " + std::to_string(decoded) + " out, " +
             std::to_string(static_cast<int>(rate(decoded, report.decode_seconds))) + " tokens/s, " +
             std::string(name_of(report.reason)) + "]");
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("run", "continue a text with a model");
  command.footer(examples);
  add_model_options(command, options->model);
  command.add_option("-p,--prompt", options->prompt, "the text to continue; may begin with -");
  command.add_option("-n,--tokens", options->most_tokens, "most tokens to generate")
      .check(tokens_from(1))
      .capture_default_str();
  command.add_flag("--special", options->parses_special, "read special tokens such as <|im_end|> in the prompt");
  options->completed_sampler = add_sampler_options(command, options->sampler);
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = finish_command(run(*options)); });
}

}  // namespace ingot::run_command
