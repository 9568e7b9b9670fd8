#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/line_editor.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "engine/conversation.h"

namespace ingot {
namespace {

constexpr const char* examples =
    "Messages are written by the model's own chat template. What was said is kept in memory and not computed again.\n"
    "Ctrl-C stops an answer, /help lists commands, Ctrl-D ends the chat. Lines are read from a pipe as well.\n"
    "\n"
    "Examples:\n"
    "  ingot chat model.gguf\n"
    "  ingot chat model.gguf --system \"You answer in one sentence.\" --temperature 0.7\n"
    "  echo \"What is gravity?\" | ingot chat model.gguf";

constexpr const char* help =
    "  /help           this list\n"
    "  /clear          forget the conversation\n"
    "  /system TEXT    begin again with this system message\n"
    "  /stats          tokens in memory, and the speed of the last answer\n"
    "  /exit           end the chat\n";

struct Options {
  ModelOptions model;
  SamplerOptions sampler;
  SamplerCompletion completed_sampler;
  std::string system;
  std::string template_file;
  std::int64_t most_tokens = 1024;
};

// A signal handler can reach nothing but a static variable.
volatile std::sig_atomic_t interrupted = 0;

// Ctrl-C sets the flag for as long as this lives.
class InterruptWatch {
 public:
  InterruptWatch() {
    interrupted = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &action, &saved_);
  }
  ~InterruptWatch() { sigaction(SIGINT, &saved_, nullptr); }
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  struct sigaction saved_{};
};

Result<std::string> template_source(const Options& options, const Model& model) {
  if (!options.template_file.empty()) {
    std::ifstream file(options.template_file);
    std::ostringstream text;
    text << file.rdbuf();
    if (file.good() || file.eof()) return text.str();
    return Error::of(ErrorCode::input_output, options.template_file, ": expected a template to read, found none");
  }
  std::string source = model.chat_template();
  if (!source.empty()) return source;
  return Error::of(
      ErrorCode::not_found,
      "expected a model with a chat template, found none: give one with --template FILE, or use ingot run");
}

class Chat {
 public:
  Chat(Conversation& conversation, Sampler& sampler, const Options& options)
      : conversation_(conversation), sampler_(sampler), options_(options) {}

  Result<void> loop() {
    LineEditor editor;
    while (true) {
      const std::optional<std::string> line = editor.read_line(coloured("> ", Colour::bold));
      if (!line || *line == "/exit") return {};
      if (line->empty()) continue;
      if (line->front() == '/') {
        obey(*line);
      } else {
        TRY(answer(*line));
      }
    }
  }

 private:
  void obey(const std::string& line) {
    const std::string command = line.substr(0, line.find(' '));
    if (command == "/help") {
      std::printf("%s", help);
    } else if (command == "/clear") {
      conversation_.restart(options_.system);
    } else if (command == "/system") {
      conversation_.restart(line.size() > command.size() ? line.substr(command.size() + 1) : "");
    } else if (command == "/stats") {
      std::printf("  %lld tokens in memory, last answer %.1f tokens/s\n",
                  static_cast<long long>(conversation_.tokens_in_memory()), last_rate_);
    } else {
      print_error("expected a command (/help lists them), found " + command);
    }
  }

  Result<void> answer(const std::string& message) {
    const InterruptWatch watch;
    const Result<GenerationReport> report =
        conversation_.answer(message, sampler_, options_.most_tokens, [](std::string_view text) {
          std::fwrite(text.data(), 1, text.size(), stdout);
          std::fflush(stdout);
          return interrupted == 0;
        });
    std::printf("\n");
    if (!report.ok()) {
      // A full context or a message that the template refuses ends one answer and not the chat.
      print_error(report.error().text());
      return {};
    }
    const double seconds = report.value().decode_seconds;
    last_rate_ = seconds > 0 ? static_cast<double>(report.value().tokens.size()) / seconds : 0;
    if (report.value().reason == StopReason::context_full) {
      print_error("the context is full: /clear to begin again, or start with a larger --context");
    }
    return {};
  }

  Conversation& conversation_;
  Sampler& sampler_;
  const Options& options_;
  double last_rate_ = 0;
};

Result<void> run(const Options& options) {
  const OpenedModel opened = TRY(open_model(options.model));
  const Tokenizer& tokenizer = *TRY(opened.model->tokenizer());
  const SamplerOptions chosen = TRY(options.completed_sampler(*opened.model));
  Sampler sampler = TRY(Sampler::create(opened.session->table(), chosen));
  std::string source = TRY(template_source(options, *opened.model));
  Conversation conversation = TRY(Conversation::create(*opened.session, tokenizer, std::move(source)));
  conversation.restart(options.system);
  return Chat(conversation, sampler, options).loop();
}

}  // namespace

void add_chat_command(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  options->sampler.temperature = 0.7;
  options->sampler.top_p = 0.95;
  const Command command = application.add_subcommand("chat", "talk with a model");
  command.footer(examples);
  add_model_options(command, options->model);
  command.add_option("--system", options->system, "a system message");
  command.add_option("--template", options->template_file, "a file with a Jinja chat template, instead of the model's");
  command.add_option("-n,--tokens", options->most_tokens, "most tokens of an answer")
      .check(tokens_from(1))
      .capture_default_str();
  options->completed_sampler = add_sampler_options(command, options->sampler);
  command.callback([options, &exit_code] { exit_code = finish_command(run(*options)); });
}

}  // namespace ingot
