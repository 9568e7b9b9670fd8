// POST /v1/messages and /v1/messages/count_tokens, in Anthropic's form.
#pragma once

#include "server/protocol/chat_request.h"

namespace ingot::protocol {

// A last message of the assistant's is where the answer goes on, as Anthropic has it. What a field means is the same as
// in a chat of OpenAI's form, whose further fields (seed, min_p, ...) are known here too.
Outcome<ChatRequest> read_messages_request(const chat::Dictionary& body, const ServedModel& model);
// The same without what says how to answer.
Outcome<ChatRequest> read_count_request(const chat::Dictionary& body);

}  // namespace ingot::protocol
