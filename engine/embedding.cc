#include "engine/embedding.h"

#include <cmath>

#include "engine/session_guards.h"

namespace ingot {
namespace {

// Rows [begin, end) as one: their mean.
std::vector<double> mean_of(const View<const float>& rows, std::int64_t begin, std::int64_t end) {
  std::vector<double> mean(static_cast<std::size_t>(rows.size(1)));
  for (std::int64_t row = begin; row < end; ++row) {
    for (std::size_t index = 0; index < mean.size(); ++index) {
      mean[index] += rows(row, static_cast<std::int64_t>(index)) / static_cast<double>(end - begin);
    }
  }
  return mean;
}

std::vector<float> normalised(const std::vector<double>& vector) {
  double squares = 0;
  for (const double value : vector) squares += value * value;
  const double factor = squares > 0 ? 1 / std::sqrt(squares) : 0;
  std::vector<float> result;
  for (const double value : vector) result.push_back(static_cast<float>(value * factor));
  return result;
}

}  // namespace

std::string_view name_of(Pooling pooling) {
  switch (pooling) {
    case Pooling::mean: return "mean";
    case Pooling::first: return "first";
    case Pooling::last: return "last";
    case Pooling::none: break;
  }
  return "none";
}

std::optional<Pooling> pooling_by_name(std::string_view name) {
  for (const Pooling pooling : {Pooling::mean, Pooling::first, Pooling::last, Pooling::none}) {
    if (name_of(pooling) == name) return pooling;
  }
  return std::nullopt;
}

Result<void> require_embeddings(const Model& model) {
  if (model.facts().makes_embeddings) return {};
  return Error::of(ErrorCode::unsupported, "expected a model that makes embeddings (such as bert), found ",
                   model.facts().architecture, ", which predicts tokens");
}

std::vector<std::vector<float>> pooled_embeddings(const ModelFacts& facts, const View<const float>& vectors) {
  const std::int64_t count = vectors.size(0);
  const auto only = [&](std::int64_t begin, std::int64_t end) {
    return std::vector<std::vector<float>>{normalised(mean_of(vectors, begin, end))};
  };
  switch (facts.pooling) {
    case Pooling::mean: return only(0, count);
    case Pooling::first: return only(0, 1);
    case Pooling::last: return only(count - 1, count);
    case Pooling::none: break;
  }
  std::vector<std::vector<float>> all;
  for (std::int64_t token = 0; token < count; ++token) all.push_back(normalised(mean_of(vectors, token, token + 1)));
  return all;
}

Result<std::vector<std::vector<float>>> embeddings_of(Session& session, std::span<const std::int32_t> tokens) {
  TRY(require_embeddings(session.model()));
  if (tokens.empty()) return Error::of(ErrorCode::invalid_argument, "expected at least one token, found none");
  OwnSequences own(session);
  const int sequence = TRY(own.add());
  return pooled_embeddings(session.model().facts(), TRY(session.forward({sequence, tokens, Wanted::all})));
}

}  // namespace ingot
