// The input of POST /v1/responses as a chat's messages: a user's text, or a list of messages, calls, their results and
// what was thought.
#pragma once

#include <vector>

#include "model/chat/chat_context.h"
#include "server/protocol/api_error.h"
#include "server/protocol/served_model.h"

namespace ingot::protocol {

// `instructions` is a text, or null. Precondition: `input` is a text or a list.
Outcome<std::vector<chat::Value>> read_response_input(const chat::Value* instructions, const chat::Value& input,
                                                      const ServedModel& model);

}  // namespace ingot::protocol
