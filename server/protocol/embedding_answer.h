// The answer of POST /v1/embeddings.
#pragma once

#include <span>

#include "server/protocol/embedding_request.h"

namespace ingot::protocol {

// One vector for each input. A vector that is cut is divided by its length again, as OpenAI's are.
std::string embedding_answer(std::string_view model, const EmbeddingRequest& request,
                             std::span<const std::vector<float>> vectors, std::int64_t prompt_tokens);

}  // namespace ingot::protocol
