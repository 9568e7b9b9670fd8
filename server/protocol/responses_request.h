// POST /v1/responses, in OpenAI's form. Nothing is stored: what an answer goes on from is sent with it.
#pragma once

#include "server/protocol/chat_request.h"

namespace ingot::protocol {

// What a response says of its request, as it was sent; none where it was not.
struct ResponseEcho {
  chat::Value instructions = {};
  chat::Value metadata = {};
  chat::Value tools = {};
  chat::Value tool_choice = {};
  chat::Value format = {};  // of its text
  chat::Value effort = {};  // of its reasoning
};

struct ResponsesRequest {
  ChatRequest asked = {};
  ResponseEcho echo = {};
};

Outcome<ResponsesRequest> read_responses_request(const chat::Dictionary& body, const ServedModel& model);

// Every field that is known, with what becomes of it.
std::vector<KnownField> fields_of_responses_requests();

}  // namespace ingot::protocol
