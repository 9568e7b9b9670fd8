// Twenty steps of training as transformers and torch take them (tests/goldens/make_training_goldens.py).
#include <cmath>
#include <fstream>
#include <sstream>

#include "model/files/json_metadata.h"
#include "train/test_models.h"

namespace ingot {
namespace {

class GoldenSteps : public testing::TestWithParam<const char*> {};

TEST_P(GoldenSteps, LossesAndNormsAreThoseOfTorch) {
  std::ifstream file(golden_folder(GetParam()) / "training.json");
  std::stringstream text;
  text << file.rdbuf();
  const Result<Metadata> golden = metadata_from_json(text.str());
  ASSERT_TRUE(golden.ok()) << golden.error().text();
  const auto number = [&](std::string_view key) { return golden.value().number_or(key, -1).value(); };
  const std::shared_ptr<const Model> model = open_golden(GetParam());
  ASSERT_TRUE(model);

  TrainerOptions options{.batch = static_cast<std::int64_t>(number("batch")),
                         .length = static_cast<std::int64_t>(number("length"))};
  options.optimizer = {.beta1 = number("beta1"),
                       .beta2 = number("beta2"),
                       .epsilon = number("epsilon"),
                       .weight_decay = number("weight_decay"),
                       .clip_norm = number("clip_norm")};
  for (const auto& [name, view] : model->weights().all()) {
    if (!name.ends_with("ssm_a")) options.trained.insert(name);
  }
  const std::unique_ptr<Trainer> trainer = trainer_of(*model, options);
  ASSERT_TRUE(trainer);

  const Result<ScalarList> tokens = golden.value().integer_list("tokens");
  const Result<ScalarList> losses = golden.value().number_list("losses");
  const Result<ScalarList> norms = golden.value().number_list("gradient_norms");
  ASSERT_TRUE(tokens.ok() && losses.ok() && norms.ok());
  std::size_t next = 0;
  for (std::size_t step = 0; step < losses.value().size(); ++step) {
    TokenBatch batch;
    for (std::int64_t sequence = 0; sequence < options.batch; ++sequence, ++next) {
      for (std::int64_t place = 0; place < options.length; ++place, ++next) {
        batch.inputs.push_back(static_cast<std::int32_t>(tokens.value().integer(next)));
        batch.targets.push_back(static_cast<std::int32_t>(tokens.value().integer(next + 1)));
      }
    }
    const Result<Trainer::StepResult> result =
        trainer->step(batch.inputs, batch.targets, static_cast<std::int64_t>(step) + 1, number("learning_rate"));
    ASSERT_TRUE(result.ok()) << result.error().text();
    const double loss = losses.value().number(step);
    const double norm = norms.value().number(step);
    ASSERT_NEAR(result.value().loss, loss, 1e-4 * loss) << "step " << step + 1;
    ASSERT_NEAR(result.value().gradient_norm, norm, 1e-4 * norm) << "step " << step + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenSteps, testing::ValuesIn(trainable_goldens),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace ingot
