#include "cli/tool_talk.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "cli/session_options.h"
#include "cli/terminal.h"
#include "model/chat/value_json.h"
#include "server/protocol/json_text.h"
#ifdef INGOT_CASTS
#include "image/process.h"
#endif

namespace ingot {

namespace {

#ifdef INGOT_CASTS
// A file in memory that the program reads as its standard input: it may read as late as it likes.
class InputFile {
 public:
  static Result<InputFile> create(std::string_view text) {
    InputFile file(::memfd_create("arguments", MFD_CLOEXEC));
    while (file.descriptor_ >= 0 && !text.empty()) {
      const ssize_t written = ::write(file.descriptor_, text.data(), text.size());
      if (written <= 0) return Error::of(ErrorCode::input_output, "expected room for arguments in memory, found none");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (file.descriptor_ < 0 || ::lseek(file.descriptor_, 0, SEEK_SET) != 0) {
      return Error::of(ErrorCode::input_output, "expected a file in memory for arguments, found none");
    }
    return file;
  }
  InputFile(InputFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  explicit InputFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// What it wrote; nothing where whoever waited gave up.
Result<std::optional<std::string>> run_tool_program(const std::string& program, const CalledTool& call) {
  constexpr std::size_t most_output_bytes = std::size_t{1} << 20;  // more than a context holds
  const InputFile input = TRY(InputFile::create(call.arguments));
  std::string output;
  bool is_given_up = false;
  image::ProcessRequest request;
  request.words = {program, call.name};
  request.inherited = {{input.descriptor(), 0}};
  request.channels = {{1, [&](std::string_view piece) {
                         if (output.size() <= most_output_bytes) output += piece;
                       }}};
  request.has_enough = [&] { return output.size() > most_output_bytes; };
  request.asked_to_end = [&](int) { is_given_up = true; };
  request.ends_at_once = true;
  const image::ProcessEnd end = TRY(image::run_process(request));
  if (is_given_up) return std::optional<std::string>();
  if (output.size() > most_output_bytes) {
    return Error::of(ErrorCode::out_of_range, program, " ", call.name, ": expected at most ", most_output_bytes,
                     " bytes of output, found more");
  }
  if (end.status != 0) {
    return Error::of(ErrorCode::input_output, program, " ", call.name, ": expected exit status 0, found ", end.status);
  }
  while (output.ends_with('\n')) output.pop_back();
  return std::optional(std::move(output));
}

// Why it cannot be run; empty: it can.
std::string wrong_with_program(const std::string& program) {
  if (image::find_program(program)) return "";
  if (program.find('/') == std::string::npos) return "none by PATH; one that lies here is ./NAME";
  return ::access(program.c_str(), F_OK) == 0 ? "a file that must not be run (chmod +x)"
                                              : "no file of this name, which has no arguments";
}
#else
Result<std::optional<std::string>> run_tool_program(const std::string& program, const CalledTool&) {
  return Error::of(ErrorCode::unsupported, "expected a machine that starts programs, found one that cannot start ",
                   program);
}

std::string wrong_with_program(const std::string&) { return "a machine that starts none"; }
#endif

// Asked before a model is read: who types a name wrong should not wait to be told.
Check as_program() {
  return checked_by("", [](std::string& text) {
    if (text.empty()) return std::string("expected the name of a program, found none");
    const std::string wrong = wrong_with_program(text);
    return wrong.empty() ? wrong
                         : "expected the name of a program that can be run, found " + wrong + " ('" + text + "')";
  });
}

bool is_whole(const GenerationReport& report) {
  return report.reason == StopReason::end_of_generation && report.is_complete;
}

}  // namespace

void add_tool_options(const Command& command, ToolOptions& options) {
  const Option tools =
      command
          .add_option("--tools", options.file, "a file with functions that answers may call, a list as OpenAI has it")
          .check(as_file());
  command
      .add_option("--tool-choice", options.choice,
                  "auto: calls as the model likes; required: at the least one; none; or the name of the one to call")
      .capture_default_str()
      .needs(tools);
  command.add_flag("--one-call", options.has_one_call, "an answer calls once at the most").needs(tools);
  command
      .add_option("--tool-command", options.program,
                  "a program that runs calls: the name is its argument, the arguments come on its standard input, and "
                  "what it writes is the result")
      .check(as_program())
      .needs(tools);
}

Result<std::optional<OfferedTools>> read_offered_tools(const ToolOptions& options) {
  if (options.file.empty()) return std::optional<OfferedTools>();
  const std::string text = TRY(read_text_file(options.file, "a list of tools"));
  const auto list = chat::value_from_json(text);
  if (!list.ok()) return list.error().within(options.file);
  auto tools = calls::read_tools(list.value());
  if (!tools.ok()) return tools.error().within(options.file);
  OfferedTools offered = {.tools = std::move(tools).value(), .is_parallel = !options.has_one_call};
  if (options.choice == "required") {
    offered.choice = calls::ToolChoice::required;
  } else if (options.choice == "none") {
    offered.choice = calls::ToolChoice::none;
  } else if (options.choice != "auto") {
    offered.choice = calls::ToolChoice::named;
    offered.name = options.choice;
  }
  return std::optional(std::move(offered));
}

void ToolTalk::end_line() {
  if (is_in_line_) std::printf("\n");
  is_in_line_ = false;
  std::fflush(stdout);
}

bool ToolTalk::show(const calls::AnswerPiece& piece) {
  using Kind = calls::AnswerPiece::Kind;
  if (!settings_.json && (!piece.text.empty() || piece.kind == Kind::call_end)) {
    if (piece.kind == Kind::call_begin) end_line();
    const bool is_dim = piece.kind == Kind::reasoning;
    const std::string text = piece.kind == Kind::call_begin ? coloured("call " + piece.text + " ", Colour::bold)
                             : is_dim                       ? coloured(piece.text, Colour::dim)
                                                            : piece.text;
    std::fwrite(text.data(), 1, text.size(), stdout);
    is_in_line_ = true;
    if (piece.kind == Kind::call_end) end_line();
    std::fflush(stdout);
  }
  return !settings_.is_given_up || !settings_.is_given_up();
}

std::optional<std::string> ToolTalk::result_of(const CalledTool& call) const {
  if (settings_.program.empty()) return settings_.ask ? settings_.ask(call) : std::nullopt;
  Result<std::optional<std::string>> result = run_tool_program(settings_.program, call);
  if (result.ok()) return std::move(result).value();
  // The model may do something about it.
  print_warning(result.error().text());
  return "error: " + std::string(result.error().text());
}

void ToolTalk::print_json(const std::string& message, const std::vector<std::string>& results,
                          const Result<CallingAnswer>& answer) const {
  std::string line;
  protocol::JsonWriter writer(line);
  writer.open_object();
  if (results.empty()) {
    writer.key("message").text(message);
  } else {
    writer.key("results").open_list();
    for (const std::string& result : results) writer.text(result);
    writer.close_list();
  }
  if (answer.ok()) {
    const CallingAnswer& value = answer.value();
    writer.key("text").text(value.content);
    if (!value.reasoning.empty()) writer.key("reasoning").text(value.reasoning);
    writer.key("calls").open_list();
    for (const CalledTool& call : value.calls) {
      // As the model wrote them: a number of many digits is no other one. Ends of lines stand between values alone.
      std::string arguments = call.arguments;
      std::ranges::replace(arguments, '\n', ' ');
      writer.open_object().key("id").text(call.id).key("name").text(call.name);
      writer.key("arguments").raw(arguments).close_object();
    }
    writer.close_list();
    writer.key("tokens").number(value.report.tokens.size());
    writer.key("stop").text(name_of(value.report.reason));
    writer.key("complete").boolean(is_whole(value.report));
  } else {
    writer.key("error").text(answer.error().text());
  }
  writer.close_object();
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

Result<GenerationReport> ToolTalk::answer(const std::string& message) {
  const auto on_piece = [this](const calls::AnswerPiece& piece) { return show(piece); };
  std::vector<std::string> results;
  for (int round = 0; round <= most_rounds; ++round) {
    Result<CallingAnswer> answer =
        round == 0 ? conversation_.answer_or_call(message, sampler_, settings_.most_tokens, on_piece)
                   : conversation_.go_on(results, sampler_, settings_.most_tokens, on_piece);
    end_line();
    if (settings_.json) print_json(message, results, answer);
    if (!answer.ok()) return answer.error();
    results.clear();
    // Of an answer that was cut nobody knows what it would have called.
    if (!is_whole(answer.value().report)) return std::move(answer).value().report;
    if (round == most_rounds && !answer.value().calls.empty()) break;
    for (const CalledTool& call : answer.value().calls) {
      std::optional<std::string> result = result_of(call);
      if (!result) return std::move(answer).value().report;
      results.push_back(std::move(*result));
    }
    if (results.empty()) return std::move(answer).value().report;
  }
  return Error::of(ErrorCode::out_of_range, "expected an answer after ", most_rounds, " rounds of calls, found calls");
}

}  // namespace ingot
