#include "engine/embedding.h"

#include <cmath>

#include "engine/session_guards.h"

namespace ingot {

Result<void> require_embeddings(const Model& model) {
  if (model.facts().makes_embeddings) return {};
  return Error::of(ErrorCode::unsupported, "expected a model that makes embeddings (such as bert), found ",
                   model.facts().architecture, ", which predicts tokens");
}

Result<std::vector<float>> embedding_of(Session& session, std::span<const std::int32_t> tokens) {
  TRY(require_embeddings(session.model()));
  if (tokens.empty()) return Error::of(ErrorCode::invalid_argument, "expected at least one token, found none");
  OwnSequences own(session);
  const int sequence = TRY(own.add());
  const View<const float> vectors = TRY(session.forward({sequence, tokens, Wanted::all}));
  std::vector<double> mean(static_cast<std::size_t>(vectors.size(1)));
  for (std::int64_t token = 0; token < vectors.size(0); ++token) {
    for (std::size_t index = 0; index < mean.size(); ++index) {
      mean[index] += vectors(token, static_cast<std::int64_t>(index)) / static_cast<double>(vectors.size(0));
    }
  }
  double squares = 0;
  for (const double value : mean) squares += value * value;
  const double factor = squares > 0 ? 1 / std::sqrt(squares) : 0;
  std::vector<float> embedding;
  for (const double value : mean) embedding.push_back(static_cast<float>(value * factor));
  return embedding;
}

}  // namespace ingot
