// Messages with tools, calls and results, as a template wants them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/calls/call_format.h"

namespace ingot::calls {

struct ChatWithTools {
  std::vector<chat::Value> messages;
  std::optional<chat::Value> tools;  // for ChatRequest
};

// Takes messages of OpenAI's form (calls with arguments as text, results of role "tool", reasoning_content). Where the
// template does not show tools, or has no form for calls, the system message says it, or the first turn of the user
// where the template shows no system message; where it has no form, calls and results become plain text, results as the
// user's, in one turn with what he says before and behind them where the template wants turns. An error: arguments that
// are no JSON object, and texts of arguments that have more than most_json_values together.
Result<ChatWithTools> chat_with_tools(const CallFormat& format, std::vector<chat::Value> messages,
                                      std::span<const Tool> tools);

// What a system message says about the tools and how to call them, in the format's own spelling.
std::string tool_instruction(const CallFormat& format, std::span<const Tool> tools);

// A call as the format writes it. Precondition: the arguments are an object.
std::string call_text(const CallFormat& format, std::string_view name, const chat::Value& arguments);

}  // namespace ingot::calls
