// What a training step holds at its peak, counted in rows of the model's width: the same on every machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "train/fresh_model.h"
#include "train/trainer.h"

namespace ingot {
namespace {

class TrainingMemory : public testing::Test {
 protected:
  static constexpr std::int64_t layers = 3, width = 64, vocabulary = 256, batch = 4, length = 64;
  static constexpr double unit = double{batch * length * width * sizeof(float)};

  void SetUp() override { make_model(width); }

  void make_model(std::int64_t model_width) {
    TrainingConfiguration wanted;
    wanted.architecture = "gpt2";
    wanted.layers = layers;
    wanted.width = model_width;
    wanted.heads = 2;
    wanted.vocabulary = vocabulary;
    wanted.context = length;
    source_ = make_fresh_model(completed(wanted).value()).value();
    form_ = create_template(source_).value();
  }

  std::unique_ptr<Trainer> trainer_with(Recompute which, int accumulate = 1) {
    return Trainer::create(*form_, source_.weights,
                           {.batch = batch, .length = length, .accumulate = accumulate, .recompute = which})
        .value();
  }
  double live_units(const Trainer& trainer) { return static_cast<double>(trainer.plan().live_bytes()) / unit; }

  ModelSource source_;
  std::unique_ptr<Template> form_;
};

TEST_F(TrainingMemory, IsWhatALayerMustKeep) {
  // A layer keeps q, k and v (3), what attention mixed (1), both sums (2) and what enters the curve (4); without
  // computing anything again also two norms (2) and the curve (4). At the peak there are the scores, over which their
  // derivative is written, what they were made of (1), and the gradient of the matrix that made them.
  const double scores = double{vocabulary} / width;
  const double gradient = double{vocabulary * width * sizeof(float)} / unit;
  // One number a row: a mean and a deviation a norm, a sum of exponentials a head; four inputs.
  const double numbers = (layers * (2 * 2 + 2) + 2 + 4.0) / width;
  const double cheap = 10 * layers + scores + 1 + gradient + numbers;
  const double everything = 16 * layers + scores + 2 + gradient + numbers;
  const double found_cheap = live_units(*trainer_with(Recompute::cheap));
  const double found_everything = live_units(*trainer_with(Recompute::nothing));
  EXPECT_NEAR(found_cheap, cheap, 0.01);  // the loss, and what alignment adds
  EXPECT_NEAR(found_everything, everything, 0.01);
  EXPECT_LT(live_units(*trainer_with(Recompute::layers)), 0.8 * cheap);
}

TEST_F(TrainingMemory, IsLittleMoreThanWhatIsAlive) {
  for (const Recompute which : {Recompute::nothing, Recompute::cheap, Recompute::layers}) {
    const std::unique_ptr<Trainer> trainer = trainer_with(which);
    const auto weights = static_cast<double>(trainer->parameters().bytes());
    const auto live = static_cast<double>(trainer->plan().live_bytes());
    EXPECT_EQ(trainer->optimizer().bytes(), 2 * trainer->parameters().bytes());
    const auto rest = static_cast<double>(trainer->plan().scratch_bytes()) + (1 << 20);
    EXPECT_LE(static_cast<double>(trainer->peak_bytes()), 3 * weights + 1.01 * live + rest);
  }
}

// Passes that add to gradients cannot use their memory for anything else.
TEST_F(TrainingMemory, GradientsThatAreAddedToAreKept) {
  const std::unique_ptr<Trainer> once = trainer_with(Recompute::cheap);
  const std::unique_ptr<Trainer> twice = trainer_with(Recompute::cheap, 2);
  EXPECT_GT(twice->peak_bytes(), once->peak_bytes());
  EXPECT_LE(twice->peak_bytes(), once->peak_bytes() + once->parameters().bytes() + (1 << 20));
}

// Activations lay where gradients are now, and between them too.
TEST_F(TrainingMemory, HoldsGradientsAloneAfterAPass) {
  make_model(36);  // vectors that end within a cache line
  const std::unique_ptr<Trainer> trainer = trainer_with(Recompute::cheap);
  const std::vector<std::int32_t> tokens(static_cast<std::size_t>(batch * length), 7);
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(trainer->differentiate(tokens, tokens).ok());
    const View<float> all = trainer->parameters().gradients();
    const std::vector<float> gradients(all.data(), all.data() + all.count());
    std::vector<float> expected(gradients.size(), 0.0f);
    for (const Parameter& parameter : trainer->parameters().all()) {
      const auto begin = gradients.begin() + parameter.offset;
      std::copy(begin, begin + element_count(parameter.shape), expected.begin() + parameter.offset);
    }
    EXPECT_EQ(gradients, expected);
    EXPECT_LT(trainer->parameters().count(), all.count());
    ASSERT_TRUE(trainer->evaluate(tokens, tokens).ok());
    EXPECT_EQ(std::vector<float>(all.data(), all.data() + all.count()), gradients);
  }
}

}  // namespace
}  // namespace ingot
