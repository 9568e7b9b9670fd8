// The tiny models of tests/goldens as things to train, for tests.
#pragma once

#include "base/random.h"
#include "engine/golden_model.h"
#include "train/trainer.h"

namespace ingot {

inline constexpr const char* trainable_goldens[] = {"llama", "mistral", "mixtral",     "qwen2", "qwen3",
                                                    "phi3",  "gemma2",  "gemma3_text", "gpt2",  "qwen3_moe",
                                                    "mamba", "mamba2",  "qwen3_next"};

struct TokenBatch {
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> targets;
};

inline TokenBatch random_batch(std::int64_t tokens, std::int64_t vocabulary, std::uint64_t seed) {
  RandomNumbers random(seed);
  TokenBatch batch;
  for (std::int64_t index = 0; index < tokens; ++index) {
    batch.inputs.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary))));
    batch.targets.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary))));
  }
  return batch;
}

inline std::shared_ptr<const Model> open_golden(const std::string& name) {
  Result<std::shared_ptr<const Model>> model = Model::open(golden_folder(name));
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

inline std::unique_ptr<Trainer> trainer_of(const Model& model, TrainerOptions options) {
  Result<std::unique_ptr<Trainer>> trainer = Trainer::create(model.form(), model.weights(), std::move(options));
  EXPECT_TRUE(trainer.ok()) << trainer.error().text();
  return trainer.ok() ? std::move(trainer).value() : nullptr;
}

}  // namespace ingot
