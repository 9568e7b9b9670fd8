// From messages to a prompt: what the model's chat template writes, in the tokens that its tokenizer makes of it.
#pragma once

#include "model/chat/chat_context.h"
#include "model/chat/chat_template.h"
#include "model/tokenizer/tokenizer.h"

namespace ingot {

// Fills in what the request leaves to the model and the clock (bos_token, eos_token, now), and renders it. Some
// templates take further variables from whoever renders: today as `date_string` (Llama 3) and `datetime`, and the tools
// as JSON text in `functions` (both firefunction). What the request sets wins over these.
Result<chat::MarkedText> render_chat(const chat::ChatTemplate& form, const Tokenizer& tokenizer,
                                     chat::ChatRequest request);

// What messages spell is text: only the template's own bytes are special tokens.
Result<std::vector<TokenId>> encode_chat(const Tokenizer& tokenizer, const chat::MarkedText& text);

}  // namespace ingot
