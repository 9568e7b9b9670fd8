// POST /tokenize, /detokenize and /apply-template, as llama-server has them.
#pragma once

#include "model/chat/chat_context.h"
#include "model/tokenizer/tokenizer.h"
#include "server/protocol/field_reader.h"
#include "server/protocol/served_model.h"
#include "server/protocol/tool_use.h"

namespace ingot::protocol {

struct TokenizeRequest {
  std::string model = {};  // empty: none was named; here and below
  std::string content = {};
  bool adds_special_tokens = false;
  bool parses_special_tokens = true;
  bool tells_pieces = false;
};

struct DetokenizeRequest {
  std::string model = {};
  std::vector<std::int32_t> tokens = {};
};

struct TemplateRequest {
  std::string model = {};
  chat::ChatRequest chat = {};  // without tokens and the clock
  ToolUse tools = {};
};

Outcome<TokenizeRequest> read_tokenize_request(const chat::Dictionary& body);
Outcome<DetokenizeRequest> read_detokenize_request(const chat::Dictionary& body, const ServedModel& model);
Outcome<TemplateRequest> read_template_request(const chat::Dictionary& body, const ServedModel& model);

// {"tokens":[1,2]}, or with pieces {"tokens":[{"id":1,"piece":"a"}]}. A piece that is no UTF-8 is a list of its bytes.
std::string tokenize_answer(const TokenizeRequest& request, std::span<const TokenId> tokens,
                            const Tokenizer& tokenizer);
// {"input_tokens":2}, with the name of an object in front where there is one.
std::string token_count_answer(std::size_t tokens, std::string_view object = {});
std::string detokenize_answer(std::string_view content);  // {"content":"..."}
std::string template_answer(std::string_view prompt);     // {"prompt":"..."}

}  // namespace ingot::protocol
