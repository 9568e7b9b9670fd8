// POST /completion, as llama-server has it.
#pragma once

#include "server/protocol/generation_request.h"
#include "server/protocol/token_input.h"

namespace ingot::protocol {

struct LlamaRequest {
  GenerationRequest generation = {};
  // Each is one text, in parts that follow each other: texts, and tokens between them.
  std::vector<std::vector<TokenInput>> prompts = {};
  bool returns_tokens = false;  // beside the whole text; each chunk of a stream has its own anyway
};

Outcome<LlamaRequest> read_llama_request(const chat::Dictionary& body, const ServedModel& model);

}  // namespace ingot::protocol
