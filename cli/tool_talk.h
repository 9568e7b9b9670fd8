// Answers that call tools: options of commands that offer them, and the talk between the model and whoever runs them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/command.h"
#include "engine/conversation.h"

namespace ingot {

struct ToolOptions {
  std::string file;
  std::string choice = "auto";
  std::string program;
  bool has_one_call = false;
};

// --tools, --tool-choice, --one-call, --tool-command.
void add_tool_options(const Command& command, ToolOptions& options);

// Nothing where no file was given.
Result<std::optional<OfferedTools>> read_offered_tools(const ToolOptions& options);

class ToolTalk {
 public:
  // What a call gives; nothing: nobody knows, and the talk ends there.
  using RunTool = std::function<std::optional<std::string>(const CalledTool&)>;
  struct Settings {
    std::int64_t most_tokens;
    bool json = false;
    std::string program = {};  // runs the tools; empty: `ask` does
    RunTool ask = {};
    std::function<bool()> is_given_up{};  // asked after each token
  };

  ToolTalk(Conversation& conversation, Sampler& sampler, Settings settings)
      : conversation_(conversation), sampler_(sampler), settings_(std::move(settings)) {}

  // Answers the message, with as many calls and results in between as it takes. The last generation's report.
  Result<GenerationReport> answer(const std::string& message);

 private:
  static constexpr int most_rounds = 16;

  bool show(const calls::AnswerPiece& piece);
  void end_line();
  std::optional<std::string> result_of(const CalledTool& call) const;
  void print_json(const std::string& message, const std::vector<std::string>& results,
                  const Result<CallingAnswer>& answer) const;

  Conversation& conversation_;
  Sampler& sampler_;
  Settings settings_;
  bool is_in_line_ = false;  // something was shown behind the last line break
};

}  // namespace ingot
