// POST /v1/chat/completions. What Responses and Anthropic's messages ask for becomes the same.
#pragma once

#include "model/chat/chat_context.h"
#include "server/protocol/generation_request.h"
#include "server/protocol/tool_use.h"

namespace ingot::protocol {

struct ChatRequest {
  GenerationRequest generation = {};
  chat::ChatRequest chat = {};  // without tokens and the clock
  ToolUse tools = {};
  bool splits_thoughts = true;  // off from words
  bool tells_prompt = false;    // what the template made of it
};

Outcome<ChatRequest> read_chat_request(const chat::Dictionary& body, const ServedModel& model);

// Every field that is known, with what becomes of it.
std::vector<KnownField> fields_of_chat_requests();

}  // namespace ingot::protocol
