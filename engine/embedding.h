// A text as one vector, by a model that makes embeddings; or as one a token, by a model that does not pool them.
#pragma once

#include "engine/session.h"

namespace ingot {

// Fails on a model that makes none, and says so.
Result<void> require_embeddings(const Model& model);

// "mean", "first", "last" or "none": each token keeps its own.
std::string_view name_of(Pooling pooling);
// Nothing where none is called so.
std::optional<Pooling> pooling_by_name(std::string_view name);

// What a pass gave of one text's tokens [tokens, width], as embeddings_of() tells it.
std::vector<std::vector<float>> pooled_embeddings(const ModelFacts& facts, const View<const float>& vectors);

// One vector, pooled as the model's file says (ModelFacts::pooling), or the tokens' own in their order. Each is divided
// by its length (L2); zeros stay zeros.
Result<std::vector<std::vector<float>>> embeddings_of(Session& session, std::span<const std::int32_t> tokens);

}  // namespace ingot
