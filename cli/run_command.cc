#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/adapter_options.h"
#include "cli/generated_text.h"
#include "cli/prompt.h"
#include "cli/session_options.h"
#include "cli/shape_options.h"
#include "cli/standard_input.h"
#include "cli/terminal.h"
#include "cli/tool_talk.h"
#include "engine/generator.h"
#include "engine/sequence_file.h"
#include "model/grammar/constraints.h"

namespace ingot::run_command {
namespace {

constexpr const char* examples =
    "Continues a text: of -p or -f, or of standard input where that is a pipe or a file. With both, the input "
    "continues\n"
    "the given text on a new line. Greedy unless a temperature is given or the model's file advises one; the same seed "
    "gives\n"
    "the same text. Without a text, the built-in model tells a tale that is the same on every machine; with a\n"
    "temperature, one of its own.\n"
    "\n"
    "Examples:\n"
    "  ingot run model.gguf -p \"Once upon a time\"\n"
    "  ingot run model.gguf -p \"The capital of France is\" -n 20 --json\n"
    "  echo \"Once upon a time\" | ingot run model.gguf\n"
    "  ingot run model.gguf -p \"A summary of this text:\" <notes.txt\n"
    "  ingot run model.gguf -f prompt.txt --stop \"END\"\n"
    "  ingot run model.gguf -p \"The capital of France is\" -n 1 --logprobs 5 --json\n"
    "  ingot run model.gguf -p \"Is the sky blue? \" --choice yes,no\n"
    "  ingot run model.gguf -p \"A person as JSON: \" --schema person.json\n"
    "  ingot run model.gguf -p \"How warm is it in Rome?\" --tools tools.json --tool-choice required\n"
    "  ingot run model.gguf -p \"A long story.\" --save-session story.session\n"
    "  ingot run model.gguf -p \" And then\" --load-session story.session\n"
    "  ingot run model.gguf -p \"Once\" --adapter style.gguf --adapter tone/:0.5\n"
    "  ingot run folder/ -p \"Dear reader\" --temperature 0.8 --top-p 0.95 --seed 7";

struct Options {
  ModelOptions model;
  SamplerOptions sampler;
  SamplerCompletion completed_sampler;
  ShapeOptions shape;
  ToolOptions tools;
  std::string prompt, prompt_file;
  std::vector<std::string> stops;
  std::optional<std::uint32_t> logprobs;  // how many of the most likely tokens are told beside each
  std::string load_file, save_file;       // sequences
  std::int64_t most_tokens = 256;
  bool parses_special = false;
  bool json = false;
};

double rate(std::int64_t tokens, double seconds) { return seconds > 0 ? static_cast<double>(tokens) / seconds : 0; }

void print_json(const Options& options, const SessionOptions& session, const std::vector<std::int32_t>& prompt,
                const GenerationReport& report, const GeneratedText& shown, bool is_held) {
  const auto decoded = static_cast<std::int64_t>(report.tokens.size());
  nlohmann::json document = {{"model", options.model.path},
                             {"adapters", described_adapters(session)},
                             {"prompt_ids", prompt},
                             {"ids", report.tokens},
                             {"text", shown.text()},
                             {"stop", shown.reason(report)},
                             {"prefill_tokens_per_second", rate(report.prompt_tokens, report.prefill_seconds)},
                             {"decode_tokens_per_second", rate(decoded, report.decode_seconds)},
                             {"first_token_ms", 1000 * report.prefill_seconds}};
  shown.describe(document);
  if (is_held) document["complete"] = report.is_complete;
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_report(const Options& options, const SessionOptions& session, const std::vector<std::int32_t>& prompt,
                  const GenerationReport& report, const GeneratedText& shown, bool is_held) {
  if (options.json) return print_json(options, session, prompt, report, shown, is_held);
  const auto decoded = static_cast<std::int64_t>(report.tokens.size());
  std::printf("\n");
  print_note("[" + std::to_string(report.prompt_tokens) + " tokens in, " + std::to_string(decoded) + " out, " +
             std::to_string(static_cast<int>(rate(decoded, report.decode_seconds))) + " tokens/s, " +
             std::string(shown.reason(report)) + "]");
}

// Where nothing is asked for.
std::string default_prompt(const Options& options) {
  const bool is_tale = options.model.path == default_model_name && options.sampler.temperature == 0;
  return is_tale ? std::string(default_opening) : std::string();
}

Result<std::string> text_of(const Options& options) {
  std::string piped;
  if (has_piped_input()) piped = TRY(read_standard_input());
  std::string given = options.prompt;
  if (!options.prompt_file.empty()) given = joined_prompt("", TRY(read_text_file(options.prompt_file, "a prompt")));
  const std::string text = joined_prompt(given, std::move(piped));
  if (!text.empty()) return readable("the prompt", text);
  return options.load_file.empty() ? default_prompt(options) : text;
}

// Whoever asks for a shape, or for a call, gets it or an error.
Error cut_by(StopReason reason) {
  const bool is_limit = reason == StopReason::token_limit;
  return Error::of(ErrorCode::out_of_range, "expected a whole answer, found it cut by the ", name_of(reason),
                   is_limit ? ": a larger -n lets it go on" : ": a larger --context may hold it");
}

// The text is a message of a chat, and the answer may call.
Result<void> run_with_tools(const Options& options, const std::string& text, OfferedTools offered) {
  if (text.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected a message beside --tools, found none: give -p TEXT");
  }
  const bool must_call = offered.choice == calls::ToolChoice::required || offered.choice == calls::ToolChoice::named;
  const OpenedModel opened = TRY(open_model(options.model));
  const Tokenizer& tokenizer = *TRY(opened.model->tokenizer());
  const SamplerOptions chosen = TRY(options.completed_sampler(*opened.model));
  Sampler sampler = TRY(Sampler::create(opened.session->table(), chosen));
  std::string source = opened.model->chat_template();
  if (source.empty()) {
    return Error::of(ErrorCode::not_found, "expected a model with a chat template beside --tools, found none");
  }
  Conversation conversation = TRY(Conversation::create(*opened.session, tokenizer, std::move(source)));
  TRY(conversation.offer(std::move(offered)));
  ToolTalk::Settings settings = {.most_tokens = options.most_tokens, .json = options.json};
  settings.program = options.tools.program;
  const GenerationReport report = TRY(ToolTalk(conversation, sampler, std::move(settings)).answer(text));
  if (report.reason == StopReason::end_of_generation) return {};
  if (must_call) return cut_by(report.reason);
  print_note("[" + std::string(name_of(report.reason)) + "]");
  return {};
}

// What is continued: a new sequence, or one of a file with what was told there.
struct Beginning {
  int sequence = 0;
  std::vector<std::int32_t> held = {};    // that a file's sequence holds already
  std::vector<std::int32_t> prompt = {};  // those that no pass has seen, and the text's
};

Result<Beginning> begin(const Options& options, Session& session, const Tokenizer& tokenizer, const std::string& text) {
  Beginning beginning;
  beginning.sequence = TRY(session.sequences().add());
  const bool is_new = options.load_file.empty();
  if (!is_new) {
    beginning.held = TRY(read_sequence(session, beginning.sequence, options.load_file));
    const auto held_end = beginning.held.begin() + session.sequences().length(beginning.sequence);
    beginning.prompt.assign(held_end, beginning.held.end());
    beginning.held.erase(held_end, beginning.held.end());
  }
  const std::vector<std::int32_t> more = TRY(encode_with_warning(
      tokenizer, "the prompt", text, {.adds_special_tokens = is_new, .parses_special_tokens = options.parses_special}));
  beginning.prompt.insert(beginning.prompt.end(), more.begin(), more.end());
  // Without a text, the token that begins one is all there is to continue.
  if (is_new && beginning.prompt.empty() && tokenizer.bos() != no_token) beginning.prompt.push_back(tokenizer.bos());
  if (!beginning.prompt.empty()) return beginning;
  return Error::of(ErrorCode::invalid_argument, "expected a prompt of at least one token, found none: give -p TEXT");
}

Result<void> save(const Options& options, Session& session, Beginning beginning, const GenerationReport& report) {
  std::vector<std::int32_t> all = std::move(beginning.held);
  all.insert(all.end(), beginning.prompt.begin(), beginning.prompt.end());
  all.insert(all.end(), report.tokens.begin(), report.tokens.end());
  return write_sequence(session, beginning.sequence, all, options.save_file);
}

Result<void> check_usage(const Options& options) {
  if (options.logprobs && !options.json) {
    return Error::of(ErrorCode::invalid_argument, "expected --logprobs with --json, found it without");
  }
  const bool has_session = !options.load_file.empty() || !options.save_file.empty();
  if (has_session && options.model.device != "cpu") {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --save-session and --load-session without --device, found both: what a device computed "
                     "is neither written nor read");
  }
  if (options.tools.file.empty()) return {};
  if (options.logprobs || !options.stops.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected --tools, or --stop and --logprobs, found both");
  }
  if (options.shape.are_given()) {
    return Error::of(ErrorCode::invalid_argument, "expected --tools or a shape of the answer, found both");
  }
  if (!has_session) return {};
  return Error::of(ErrorCode::invalid_argument, "expected --tools or a session, found both: ingot chat has /save");
}

Result<void> run(const Options& options) {
  const std::string text = TRY(text_of(options));
  auto shape = TRY(compile_shape(options.shape));
  std::optional<OfferedTools> offered = TRY(read_offered_tools(options.tools));
  if (offered) return run_with_tools(options, text, std::move(*offered));
  const OpenedModel opened = TRY(open_model(options.model));
  Session& session = *opened.session;
  const Tokenizer& tokenizer = *TRY(opened.model->tokenizer());
  const SamplerOptions chosen = TRY(options.completed_sampler(*opened.model));
  Sampler sampler = TRY(Sampler::create(session.table(), chosen));
  const Beginning beginning = TRY(begin(options, session, tokenizer, text));
  sampler.remember(beginning.held);
  grammar::Constraints constraints(tokenizer);
  std::shared_ptr<const grammar::Constraint> constraint;
  if (shape != nullptr) constraint = TRY(constraints.of("", [&] { return shape; }));
  PromptProgress progress(session);
  GeneratedText shown(session, tokenizer, options.stops);
  ChoiceCallback on_choice;
  if (options.logprobs) {
    on_choice = [&](std::int32_t token, std::span<const float> logits) {
      return shown.score(token, logits, *options.logprobs);
    };
  }
  const auto show = [&](const std::string& part) {
    if (options.json) return;
    std::fwrite(part.data(), 1, part.size(), stdout);
    std::fflush(stdout);
  };
  bool is_begun = false;
  Result<GenerationReport> generated = generate(
      session, tokenizer, sampler, beginning.sequence, beginning.prompt, options.most_tokens,
      [&](std::string_view piece) {
        progress.erase();
        // Not before the model has taken it: an error stands alone, and the bar has the line for itself. Whoever asks
        // for a shape reads that alone.
        if (!is_begun && !options.json && constraint == nullptr) std::printf("%s", coloured(text, Colour::dim).c_str());
        is_begun = true;
        show(shown.push(piece));
        return !shown.is_stopped();
      },
      constraint, {}, on_choice);
  if (!generated.ok() && is_begun) show("\n");  // an error stands alone
  const GenerationReport report = TRY(std::move(generated));
  show(shown.finish());
  if (!options.save_file.empty()) TRY(save(options, session, beginning, report));
  print_report(options, session.options(), beginning.prompt, report, shown, constraint != nullptr);
  if (constraint != nullptr && !report.is_complete && !shown.is_stopped()) return cut_by(report.reason);
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("run", "continue a text with a model");
  command.footer(examples);
  add_device_model_options(command, options->model);
  const Option prompt = command.add_option("-p,--prompt", options->prompt, "the text to continue; may begin with -");
  command.add_option("-f,--prompt-file", options->prompt_file, "a file with it instead, but for its last line's end")
      .check(as_file())
      .excludes(prompt);
  command.add_option("-n,--tokens", options->most_tokens, "most tokens to generate")
      .check(tokens_from(1))
      .capture_default_str();
  command.add_option("--stop", options->stops, "the text ends before this one; may be given several times")
      .one_word_each_time();
  command
      .add_option("--logprobs", options->logprobs,
                  "with --json: the natural logarithm of each token's probability, and so many of the most likely ones")
      .check(between(0, 1000));
  command.add_flag("--special", options->parses_special, "read special tokens such as <|im_end|> in the prompt");
  options->completed_sampler = add_sampler_options(command, options->sampler);
  add_shape_options(command, options->shape);
  add_tool_options(command, options->tools);
  command.add_option("--save-session", options->save_file, "write the text's tokens and what was computed of them here")
      .check(as_file());
  command
      .add_option("--load-session", options->load_file,
                  "go on from what --save-session wrote, of this model and this --cache, without computing it again")
      .check(as_file());
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] {
    const Result<void> usable = check_usage(*options);
    exit_code = usable.ok() ? finish_command(run(*options)) : refuse_usage(usable.error());
  });
}

}  // namespace ingot::run_command
