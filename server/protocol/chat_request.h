// POST /v1/chat/completions.
#pragma once

#include "model/chat/chat_context.h"
#include "server/protocol/generation_request.h"

namespace ingot::protocol {

struct ChatRequest {
  GenerationRequest generation = {};
  chat::ChatRequest chat = {};  // without tokens and the clock
  bool tells_prompt = false;    // what the template made of it
};

Outcome<ChatRequest> read_chat_request(const chat::Dictionary& body, const ServedModel& model);

// Every field that is known, with what becomes of it.
std::vector<KnownField> fields_of_chat_requests();

}  // namespace ingot::protocol
