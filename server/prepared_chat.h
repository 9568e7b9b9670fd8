// PreparedChat: what a chat, in whichever form it was asked for, is to the model: a prompt by its template, and how the
// answer is read.
#pragma once

#include "server/hosted_model.h"
#include "server/protocol/answer_reading.h"
#include "server/protocol/chat_request.h"

namespace ingot {

struct PreparedChat {
  std::vector<std::int32_t> prompt;
  protocol::AnswerReading reading;
  std::vector<std::int32_t> shown_tokens;  // for the reading
};

// The messages as the model's template takes them: told of tools in words where it shows none. Fails where a call in
// them has arguments that are no object.
protocol::Outcome<chat::ChatRequest> with_tools(const HostedModel& model, chat::ChatRequest chat,
                                                const protocol::ToolUse& use);

// Fails where the template refuses, or there is none.
protocol::Outcome<PreparedChat> prepare_chat(const HostedModel& model, const protocol::ChatRequest& chat);

// Why a template wrote nothing.
protocol::ApiError template_error(const HostedModel& model, const Error& error);

}  // namespace ingot
