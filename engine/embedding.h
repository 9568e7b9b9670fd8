// A text as one vector, by a model that makes embeddings.
#pragma once

#include "engine/session.h"

namespace ingot {

// Fails on a model that makes none, and says so.
Result<void> require_embeddings(const Model& model);

// The mean of the tokens' vectors, divided by its length (L2); a mean of zeros stays zeros.
Result<std::vector<float>> embedding_of(Session& session, std::span<const std::int32_t> tokens);

}  // namespace ingot
