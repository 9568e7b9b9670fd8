// What a chat is to templates, whatever form it was sent in: calls, the answer's begin, how much is to be thought.
#pragma once

#include <string>

#include "model/chat/chat_context.h"
#include "server/protocol/field_reader.h"
#include "server/protocol/served_model.h"

namespace ingot::protocol {

// A call of a tool, as an assistant's message has it among its tool_calls. `id` may be empty.
chat::Value call_value(std::string id, std::string name, chat::Value arguments);
// Arguments are objects to templates; OpenAI sends them as JSON text. Text that is no object, or has more values than
// are left, stays text.
chat::Value arguments_value(std::string json, std::size_t& values_left);

// "system" where the template knows no developers.
std::string role_for(std::string role, const ServedModel& model);

// Takes the last message off, as the answer's begin. `field` asks for that.
Outcome<void> continue_last_message(chat::ChatRequest& chat, const std::string& field);

// The variables by which templates know whether to think: those of Qwen, and of DeepSeek and Granite.
void set_thinking(chat::ChatRequest& chat, bool is_wanted);
// `field` is one of OpenAI's efforts; none of them is none at all.
void read_effort(FieldReader& reader, std::string_view field, chat::ChatRequest& chat);
// `chat_template_kwargs`: further variables, none of which the server sets. After all others, so that they win.
void read_variables(FieldReader& reader, chat::ChatRequest& chat);

}  // namespace ingot::protocol
