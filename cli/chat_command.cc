#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/line_editor.h"
#include "cli/prompt.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "engine/conversation.h"
#include "model/files/quoted.h"

namespace ingot::chat_command {
namespace {

constexpr const char* examples =
    "Messages are written by the model's own chat template. What was said is kept in memory and not computed again.\n"
    "Ctrl-C stops an answer, /help lists commands, Ctrl-D ends the chat. A pasted text is one message, however many\n"
    "lines it has. From a pipe every line is a message, and the exit code is 1 if any of them failed.\n"
    "\n"
    "Examples:\n"
    "  ingot chat model.gguf\n"
    "  ingot chat model.gguf --system \"You answer in one sentence.\" --temperature 0.7\n"
    "  echo \"What is gravity?\" | ingot chat model.gguf\n"
    "  ingot chat model.gguf --json <questions.txt      an object a line for each answer";

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
  bool json = false;
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
  if (!options.template_file.empty()) return read_template_file(options.template_file);
  std::string source = model.chat_template();
  if (!source.empty()) return source;
  return Error::of(
      ErrorCode::not_found, Quoted{model.name()},
      ": expected a model with a chat template, found none: give one with --template FILE, or use ingot run");
}

// What the model calls itself; else where it lies.
std::string title_of(const Model& model) {
  const Result<std::string_view> name = model.metadata().text("general.name");
  return name.ok() && !name.value().empty() ? std::string(name.value()) : model.name();
}

class Chat {
 public:
  Chat(Session& session, const Tokenizer& tokenizer, Conversation& conversation, Sampler& sampler,
       const Options& options)
      : session_(session), tokenizer_(tokenizer), conversation_(conversation), sampler_(sampler), options_(options) {}

  // The exit code. Who sits at a terminal has seen what failed; who reads a pipe must be told.
  int loop() {
    LineEditor editor;
    if (editor.is_on_terminal()) {
      print_note(title_of(session_.model()) + ", " + std::to_string(session_.context()) +
                 " tokens of context. /help lists commands, Ctrl-D ends the chat.");
    }
    while (true) {
      const std::optional<std::string> line = editor.read_line(coloured("> ", Colour::bold));
      if (!line || *line == "/exit") return has_failed_ && !editor.is_on_terminal() ? exit_failure : exit_success;
      if (line->empty()) continue;
      // A pasted text may begin with the path of a file.
      if (line->front() == '/' && line->find('\n') == std::string::npos) {
        obey(*line);
      } else {
        answer(readable("the message", *line));
      }
    }
  }

 private:
  void obey(const std::string& line) {
    const std::string command = line.substr(0, line.find(' '));
    if (command == "/help") {
      say(help);
    } else if (command == "/clear") {
      conversation_.restart(options_.system);
    } else if (command == "/system") {
      conversation_.restart(line.size() > command.size() ? line.substr(command.size() + 1) : "");
    } else if (command == "/stats") {
      char text[100];
      std::snprintf(text, sizeof text, "  %lld tokens in memory, last answer %.1f tokens/s\n",
                    static_cast<long long>(conversation_.tokens_in_memory()), last_rate_);
      say(text);
    } else {
      fail("expected a command (/help lists them), found " + command);
    }
  }

  void answer(const std::string& message) {
    const bool has_past = conversation_.message_count() > 0;
    const InterruptWatch watch;
    PromptProgress progress(session_);
    bool is_begun = false;
    // Where even that fails, the answer does for the same reason and says so.
    static_cast<void>(warn_of_left_out(tokenizer_, "the message", message, {.parses_special_tokens = true}));
    const Result<GenerationReport> report =
        conversation_.answer(message, sampler_, options_.most_tokens, [&](std::string_view text) {
          progress.erase();
          is_begun = true;
          if (!options_.json) std::fwrite(text.data(), 1, text.size(), stdout);
          std::fflush(stdout);
          return interrupted == 0;
        });
    progress.erase();
    if (is_begun && !options_.json) std::printf("\n");
    if (options_.json) print_json(message, report);
    if (!report.ok()) {
      // A full context or a message that the template refuses ends one answer and not the chat.
      fail(std::string(report.error().text()) + (has_past ? "; /clear begins again" : ""));
      return;
    }
    const double seconds = report.value().decode_seconds;
    last_rate_ = seconds > 0 ? static_cast<double>(report.value().tokens.size()) / seconds : 0;
    if (report.value().reason == StopReason::context_full) {
      const bool can_grow = session_.context() < session_.model().facts().context;
      fail("the context of " + std::to_string(session_.context()) + " tokens is full: /clear begins again" +
           (can_grow ? ", a larger --context holds more" : ""));
    } else if (report.value().reason == StopReason::token_limit) {
      print_note("[cut after " + std::to_string(report.value().tokens.size()) + " tokens: a larger -n lets it go on]");
    }
  }

  void print_json(const std::string& message, const Result<GenerationReport>& report) const {
    nlohmann::json line = {{"message", message}};
    if (report.ok()) {
      line["text"] = report.value().text;
      line["tokens"] = report.value().tokens.size();
      line["stop"] = name_of(report.value().reason);
    } else {
      line["error"] = report.error().text();
    }
    std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    std::fflush(stdout);
  }
  // Beside the answers, which are all that a program reads.
  void say(const char* text) const { std::fprintf(options_.json ? stderr : stdout, "%s", text); }
  void fail(const std::string& text) {
    has_failed_ = true;
    print_error(text);
  }

  Session& session_;
  const Tokenizer& tokenizer_;
  Conversation& conversation_;
  Sampler& sampler_;
  const Options& options_;
  double last_rate_ = 0;
  bool has_failed_ = false;
};

Result<int> run(const Options& options) {
  const OpenedModel opened = TRY(open_model(options.model));
  const Tokenizer& tokenizer = *TRY(opened.model->tokenizer());
  const SamplerOptions chosen = TRY(options.completed_sampler(*opened.model));
  Sampler sampler = TRY(Sampler::create(opened.session->table(), chosen));
  std::string source = TRY(template_source(options, *opened.model));
  Conversation conversation = TRY(Conversation::create(*opened.session, tokenizer, std::move(source)));
  conversation.restart(options.system);
  return Chat(*opened.session, tokenizer, conversation, sampler, options).loop();
}

}  // namespace

void add(const Command& application, int& exit_code) {
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
  command.add_flag("--json", options->json, "a JSON object for each answer, on a line of its own");
  command.callback([options, &exit_code] {
    const Result<int> ended = run(*options);
    if (!ended.ok()) print_error(ended.error().text());
    exit_code = ended.ok() ? ended.value() : exit_failure;
  });
}

}  // namespace ingot::chat_command
