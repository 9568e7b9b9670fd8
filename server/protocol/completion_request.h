// POST /v1/completions.
#pragma once

#include "server/protocol/generation_request.h"
#include "server/protocol/token_input.h"

namespace ingot::protocol {

struct CompletionRequest {
  GenerationRequest generation = {};
  std::vector<TokenInput> prompts = {};  // each has generation.choices choices
  bool echoes = false;                   // the prompt is part of the answer
};

Outcome<CompletionRequest> read_completion_request(const chat::Dictionary& body, const ServedModel& model);

// Every field that is known, with what becomes of it.
std::vector<KnownField> fields_of_completion_requests();

}  // namespace ingot::protocol
