// The tools of a request, and whether it wants them called. Chats, Responses and messages name the same things
// differently; templates get all of them in the form that chats have.
#pragma once

#include <string>
#include <vector>

#include "model/calls/tool.h"
#include "model/chat/chat_context.h"
#include "server/protocol/field_reader.h"

namespace ingot::protocol {

using calls::Tool;
using calls::ToolChoice;

struct ToolUse {
  std::vector<Tool> tools = {};
  ToolChoice choice = ToolChoice::automatic;
  std::string name = {};  // of the one that must be called
  bool is_parallel = true;

  // Whether the model is told of tools at all.
  bool is_on() const { return !tools.empty() && choice != ToolChoice::none; }
};

// Each reads `tools`, `tool_choice` and what says whether several may be called at once, into the chat's tools too.
void read_chat_tools(FieldReader& reader, ToolUse& use, chat::ChatRequest& chat);
void read_response_tools(FieldReader& reader, ToolUse& use, chat::ChatRequest& chat);
void read_message_tools(FieldReader& reader, ToolUse& use, chat::ChatRequest& chat);

}  // namespace ingot::protocol
