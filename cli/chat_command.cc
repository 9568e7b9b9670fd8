#include <memory>
#include <nlohmann/json.hpp>

#include "cli/chat_file.h"
#include "cli/interrupt_watch.h"
#include "cli/line_editor.h"
#include "cli/prompt.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "cli/tool_talk.h"
#include "engine/conversation.h"
#include "model/files/quoted.h"

namespace ingot::chat_command {
namespace {

constexpr const char* examples =
    "Messages are written by the model's own chat template. What was said is kept in memory and not computed again.\n"
    "Ctrl-C stops an answer, /help lists commands (/save and /load among them), Ctrl-D ends the chat. A pasted text\n"
    "is one message, however many lines it has, and a line that ends with \\ goes on in the next. From a pipe every\n"
    "line is a message, but for those, and the exit code is 1 if any of them failed.\n"
    "\n"
    "Examples:\n"
    "  ingot chat model.gguf\n"
    "  ingot chat model.gguf --system \"You answer in one sentence.\" --temperature 0.7\n"
    "  echo \"What is gravity?\" | ingot chat model.gguf\n"
    "  ingot chat model.gguf --json <questions.txt      an object a line for each answer\n"
    "  ingot chat model.gguf --tools tools.json         answers may call functions; you type what they give\n"
    "  ingot chat model.gguf --tools tools.json --tool-command ./run-tool";

constexpr const char* help =
    "  /help           this list\n"
    "  /clear          forget the conversation\n"
    "  /system TEXT    begin again with this system message\n"
    "  /save FILE      write what was said, as a list of messages in JSON\n"
    "  /load FILE      go on from what was said there, in place of what was said here\n"
    "  /stats          tokens in memory, and the speed of the last answer\n"
    "  /exit           end the chat\n"
    "  ... \\           the message goes on in the next line\n";

struct Options {
  ModelOptions model;
  SamplerOptions sampler;
  SamplerCompletion completed_sampler;
  std::string system;
  std::string template_file;
  ToolOptions tools;
  std::int64_t most_tokens = 1024;
  bool json = false;
};

Result<std::string> template_source(const Options& options, const Model& model) {
  if (!options.template_file.empty()) return read_text_file(options.template_file, "a template");
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
    if (editor_.is_on_terminal()) {
      print_note(title_of(session_.model()) + ", " + std::to_string(session_.context()) +
                 " tokens of context. /help lists commands, Ctrl-D ends the chat.");
    }
    while (true) {
      const std::optional<std::string> line = read_message();
      if (!line || *line == "/exit") return has_failed_ && !editor_.is_on_terminal() ? exit_failure : exit_success;
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
  // Lines that end with a backslash and the one behind them; what the end of the input cuts is a message, too.
  std::optional<std::string> read_message() {
    std::optional<std::string> message = editor_.read_line(coloured("> ", Colour::bold));
    while (message && message->ends_with('\\')) {
      message->back() = '\n';
      const std::optional<std::string> more = editor_.read_line(coloured("... ", Colour::bold));
      if (!more || more->empty()) message->pop_back();
      if (!more) break;
      *message += *more;
    }
    return message;
  }

  void obey(const std::string& line) {
    const std::string command = line.substr(0, line.find(' '));
    const std::string word = line.size() > command.size() ? line.substr(command.size() + 1) : "";
    if (command == "/help") {
      say(help);
    } else if (command == "/clear") {
      conversation_.restart(options_.system);
    } else if (command == "/system") {
      conversation_.restart(word);
    } else if (command == "/save" || command == "/load") {
      if (word.empty()) return fail("expected the name of a file behind " + command + ", found none");
      const Result<void> done = command == "/save" ? write_chat(word, conversation_.messages()) : load(word);
      if (!done.ok()) return fail(std::string(done.error().text()));
      say(("  " + std::to_string(conversation_.messages().size()) + " messages\n").c_str());
    } else if (command == "/stats") {
      char text[100];
      std::snprintf(text, sizeof text, "  %lld tokens in memory, last answer %.1f tokens/s\n",
                    static_cast<long long>(conversation_.tokens_in_memory()), last_rate_);
      say(text);
    } else {
      fail("expected a command (/help lists them), found " + command);
    }
  }

  Result<void> load(const std::string& path) {
    conversation_.resume(TRY(read_chat(path)));
    return {};
  }

  void answer(const std::string& message) {
    const bool has_past = !conversation_.messages().empty();
    const InterruptWatch watch;
    PromptProgress progress(session_);
    // Where even that fails, the answer does for the same reason and says so.
    static_cast<void>(warn_of_left_out(tokenizer_, "the message", message, {.parses_special_tokens = true}));
    const auto goes_on = [&] {
      progress.erase();
      return !watch.is_interrupted();
    };
    const Result<GenerationReport> report = options_.tools.file.empty()
                                                ? answer_plainly(message, goes_on)
                                                : talk([&] { return !goes_on(); }).answer(message);
    progress.erase();
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

  // All that the model writes.
  Result<GenerationReport> answer_plainly(const std::string& message, const std::function<bool()>& goes_on) {
    bool is_begun = false;
    Result<GenerationReport> report =
        conversation_.answer(message, sampler_, options_.most_tokens, [&](std::string_view text) {
          const bool is_wanted = goes_on();
          is_begun = true;
          if (!options_.json) std::fwrite(text.data(), 1, text.size(), stdout);
          std::fflush(stdout);
          return is_wanted;
        });
    if (is_begun && !options_.json) std::printf("\n");
    if (options_.json) print_json(message, report);
    return report;
  }

  // Whoever sits there runs the tools, unless a program does.
  ToolTalk talk(std::function<bool()> is_given_up) {
    const auto ask = [this](const CalledTool& call) {
      return editor_.read_line(coloured(call.name + " = ", Colour::bold));
    };
    return {conversation_,
            sampler_,
            {.most_tokens = options_.most_tokens,
             .json = options_.json,
             .program = options_.tools.program,
             .ask = ask,
             .is_given_up = std::move(is_given_up)}};
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
  LineEditor editor_;
  double last_rate_ = 0;
  bool has_failed_ = false;
};

Result<int> run(const Options& options) {
  std::optional<OfferedTools> offered = TRY(read_offered_tools(options.tools));
  const OpenedModel opened = TRY(open_model(options.model));
  const Tokenizer& tokenizer = *TRY(opened.model->tokenizer());
  const SamplerOptions chosen = TRY(options.completed_sampler(*opened.model));
  Sampler sampler = TRY(Sampler::create(opened.session->table(), chosen));
  std::string source = TRY(template_source(options, *opened.model));
  Conversation conversation = TRY(Conversation::create(*opened.session, tokenizer, std::move(source)));
  if (offered) TRY(conversation.offer(std::move(*offered)));
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
  add_device_model_options(command, options->model);
  command.add_option("--system", options->system, "a system message");
  command.add_option("--template", options->template_file, "a file with a Jinja chat template, instead of the model's");
  command.add_option("-n,--tokens", options->most_tokens, "most tokens of an answer")
      .check(tokens_from(1))
      .capture_default_str();
  add_tool_options(command, options->tools);
  options->completed_sampler = add_sampler_options(command, options->sampler);
  command.add_flag("--json", options->json, "a JSON object for each answer, on a line of its own");
  command.callback([options, &exit_code] {
    const Result<int> ended = run(*options);
    if (!ended.ok()) print_error(ended.error().text());
    exit_code = ended.ok() ? ended.value() : exit_failure;
  });
}

}  // namespace ingot::chat_command
