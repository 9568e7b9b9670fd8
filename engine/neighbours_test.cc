// Sessions that are deterministic: neighbours never show.
#include <gtest/gtest.h>

#include "engine/golden_model.h"
#include "engine/mixed_texts.h"

namespace ingot {
namespace {

using mixed_texts::expect_mixes;

class DeterministicSession : public testing::TestWithParam<const char*> {};

TEST_P(DeterministicSession, YieldsToATextWhatItYieldsToItAlone) {
  const std::shared_ptr<const Model> model = Model::open(golden_folder(GetParam())).value();
  expect_mixes(model, 12, DType::f16);
}

INSTANTIATE_TEST_SUITE_P(OfEveryArchitecture, DeterministicSession,
                         testing::Values("llama", "qwen3", "gemma2", "gemma3_text", "gpt2", "mistral", "mixtral",
                                         "phi3", "qwen3_moe", "qwen3_next", "mamba", "mamba2"));

TEST(DeterministicSession, YieldsTheSameFromTheModelThatTheProgramCarries) {
  const std::shared_ptr<const Model> model = Model::open_default().value();
  expect_mixes(model, 12, DType::f16);
  expect_mixes(model, 4, DType::q8_0);
}

}  // namespace
}  // namespace ingot
