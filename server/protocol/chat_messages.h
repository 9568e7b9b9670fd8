// The messages of a chat as a template takes them, and the variables that a request sets beside them.
#pragma once

#include <vector>

#include "model/chat/chat_context.h"
#include "server/protocol/field_reader.h"
#include "server/protocol/served_model.h"

namespace ingot::protocol {

// Reads `messages`, `add_generation_prompt`, `continue_final_message`, `chat_template_kwargs` and `reasoning_effort`
// into what templates are rendered from; tokens and the clock are left to the caller.
//
// - Parts of a content are joined by line feeds: few templates know of parts. Parts that are no text are refused.
// - A last message that is to be continued is no message to the template: it stands where the answer does.
// - The arguments of a tool call are an object to templates; OpenAI sends them as JSON text. Text that is no object
//   stays text.
// - What chat_template_kwargs says is text, as messages are: it spells no special tokens. It sets further variables and
//   none of those that are made here.
void read_chat(FieldReader& reader, const ServedModel& model, chat::ChatRequest& chat);

}  // namespace ingot::protocol
