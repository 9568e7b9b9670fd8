// What tests of adapters share: models, adapters and sessions that are there, and how far two rows of logits are apart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/golden_model.h"

namespace ingot {

using Adapters = std::vector<std::shared_ptr<const Adapter>>;

inline std::shared_ptr<const Model> opened(const std::string& path) {
  Result<std::shared_ptr<const Model>> model = Model::open(path);
  if (!model.ok()) ADD_FAILURE() << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

inline std::shared_ptr<const Adapter> adapter_at(const std::string& path, const Model& model) {
  Result<std::shared_ptr<const Adapter>> adapter = Adapter::open(path, model);
  if (!adapter.ok()) ADD_FAILURE() << adapter.error().text();
  return adapter.ok() ? adapter.value() : nullptr;
}

inline std::unique_ptr<Session> session_with(std::shared_ptr<const Model> model, Adapters adapters,
                                             AdapterScales scales = {}, SessionOptions options = {}) {
  options.cache = DType::f32;
  options.sequences = 4;
  options.context = std::min<std::int64_t>(48, model->facts().context);
  options.adapters = std::move(adapters);
  options.adapter_scales = std::move(scales);
  Result<std::unique_ptr<Session>> session = Session::create(std::move(model), std::move(options));
  if (!session.ok()) ADD_FAILURE() << session.error().text();
  return session.ok() ? std::move(session).value() : nullptr;
}

// Of all tokens of a new sequence: a prompt, a short run and single ones.
inline std::vector<float> logits_of(Session& session, std::span<const std::int32_t> tokens) {
  std::vector<float> all;
  const int sequence = session.sequences().add().value();
  for (std::size_t begin = 0; begin < tokens.size();) {
    const std::size_t count = begin == 0 ? tokens.size() / 2 : begin < tokens.size() - 3 ? 2 : 1;
    const Result<View<const float>> found =
        session.forward({sequence, tokens.subspan(begin, std::min(count, tokens.size() - begin)), Wanted::all});
    if (!found.ok()) {
      ADD_FAILURE() << found.error().text();
      break;
    }
    all.insert(all.end(), found.value().data(), found.value().data() + found.value().count());
    begin += count;
  }
  session.sequences().remove(sequence);
  return all;
}

// The largest difference, relative to the largest number that was expected.
inline double difference(std::span<const float> expected, std::span<const float> found) {
  EXPECT_EQ(expected.size(), found.size());
  double largest = 0, worst = 0;
  for (std::size_t index = 0; index < std::min(expected.size(), found.size()); ++index) {
    largest = std::max(largest, std::fabs(double{expected[index]}));
    const double error = std::fabs(double{expected[index]} - found[index]);
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
  }
  return worst / largest;
}

}  // namespace ingot
