// Whole models, differentiated: the gradient that the backward pass gives is the slope that the loss really has.
#include <cmath>

#include "train/test_models.h"

namespace ingot {
namespace {

constexpr std::int64_t batch = 2;
constexpr std::int64_t length = 7;

class WholeModel : public testing::TestWithParam<const char*> {};

// The loss of a pass without memory is that of a session's scores.
TEST_P(WholeModel, LossIsThatOfASession) {
  const std::shared_ptr<const Model> model = open_golden(GetParam());
  ASSERT_TRUE(model);
  const std::unique_ptr<Trainer> trainer = trainer_of(*model, {.batch = batch, .length = length});
  ASSERT_TRUE(trainer);
  const std::int64_t vocabulary = model->facts().vocabulary;
  const TokenBatch one = random_batch(batch * length, vocabulary, 1);
  const Result<double> loss = trainer->evaluate(one.inputs, one.targets);
  ASSERT_TRUE(loss.ok()) << loss.error().text();

  const std::unique_ptr<Session> session = golden_session(GetParam(), {.context = length, .sequences = 2});
  double expected = 0;
  for (std::int64_t sequence = 0; sequence < batch; ++sequence) {
    const int number = session->sequences().add().value();
    const std::size_t begin = static_cast<std::size_t>(sequence * length);
    const Result<View<const float>> scores =
        session->forward({number, std::span(one.inputs).subspan(begin, length), Wanted::all});
    ASSERT_TRUE(scores.ok()) << scores.error().text();
    for (std::int64_t token = 0; token < length; ++token) {
      const float* row = scores.value().data() + token * vocabulary;
      double sum = 0;
      for (std::int64_t index = 0; index < vocabulary; ++index) sum += std::exp(double{row[index]});
      expected += std::log(sum) - row[one.targets[begin + static_cast<std::size_t>(token)]];
    }
  }
  EXPECT_NEAR(loss.value(), expected / (batch * length), 2e-5 * std::fabs(loss.value()));
}

// Every weight is moved along its own gradient, where the slope is the gradient's length, and along a random direction.
TEST_P(WholeModel, GradientsAreTheSlopesOfTheLoss) {
  const std::shared_ptr<const Model> model = open_golden(GetParam());
  ASSERT_TRUE(model);
  const std::unique_ptr<Trainer> trainer = trainer_of(*model, {.batch = batch, .length = length});
  ASSERT_TRUE(trainer);
  const TokenBatch one = random_batch(batch * length, model->facts().vocabulary, 13);
  const Result<double> loss = trainer->differentiate(one.inputs, one.targets);
  ASSERT_TRUE(loss.ok()) << loss.error().text();

  RandomNumbers random(3);
  int checked = 0;
  for (const Parameter& parameter : trainer->parameters().all()) {
    const View<float> values = trainer->parameters().value_of(parameter);
    const View<float> gradient = trainer->parameters().gradient_of(parameter);
    const auto count = static_cast<std::size_t>(values.count());
    const std::vector<float> original(values.data(), values.data() + count);
    double squares = 0;
    double size = 0;
    for (std::size_t index = 0; index < count; ++index) {
      squares += double{gradient.data()[index]} * gradient.data()[index];
      size += double{original[index]} * original[index];
    }
    const double norm = std::sqrt(squares);
    for (const bool along_gradient : {true, false}) {
      std::vector<double> direction(count);
      double expected = 0;
      double direction_squares = 0;
      for (std::size_t index = 0; index < count; ++index) {
        direction[index] = along_gradient ? gradient.data()[index] : random.normal();
        direction_squares += direction[index] * direction[index];
      }
      if (direction_squares == 0) continue;
      for (std::size_t index = 0; index < count; ++index) {
        direction[index] /= std::sqrt(direction_squares);
        expected += direction[index] * gradient.data()[index];
      }
      const auto loss_at = [&](double distance) {
        for (std::size_t index = 0; index < count; ++index) {
          values.data()[index] = static_cast<float>(original[index] + distance * direction[index]);
        }
        return trainer->evaluate(one.inputs, one.targets).value();
      };
      // Experts are swapped where their scores cross, and the loss jumps: then a shorter way shows the slope.
      double worst = HUGE_VAL;
      for (const double share : {1e-3, 1e-4, 1e-5}) {
        const double step = share * std::max(std::sqrt(size), 0.1);
        const double near = (loss_at(step) - loss_at(-step)) / (2 * step);
        const double far = (loss_at(2 * step) - loss_at(-2 * step)) / (4 * step);
        // Losses are floats: what they round away, spread over the distance, is no error of the gradient.
        const double rounding = 4e-7 * std::fabs(loss.value()) / step;
        if (rounding > 0.2 * norm) break;  // it would show nothing
        worst = std::min(worst, std::max(std::fabs((4 * near - far) / 3 - expected) - rounding, 0.0));
      }
      std::copy(original.begin(), original.end(), values.data());
      if (worst == HUGE_VAL) continue;
      ++checked;
      EXPECT_LE(worst, 0.01 * norm) << parameter.name << ": expected " << expected
                                    << (along_gradient ? " along its gradient" : " along a random direction");
    }
  }
  EXPECT_GT(checked, 10);
}

// Less memory or several passes a step: the gradients stay the same. What is computed again is equal to the last bit.
TEST_P(WholeModel, RecomputingAndAccumulatingChangeNothing) {
  const std::shared_ptr<const Model> model = open_golden(GetParam());
  ASSERT_TRUE(model);
  const TokenBatch one = random_batch(2 * batch * length, model->facts().vocabulary, 4);
  std::vector<std::vector<float>> gradients;
  std::vector<double> losses;
  const auto recomputing = [](Recompute which) {
    return TrainerOptions{.batch = 2 * batch, .length = length, .recompute = which};
  };
  for (const TrainerOptions& options :
       {recomputing(Recompute::nothing), recomputing(Recompute::cheap), recomputing(Recompute::layers),
        TrainerOptions{.batch = batch, .length = length, .accumulate = 2}}) {
    const std::unique_ptr<Trainer> trainer = trainer_of(*model, options);
    ASSERT_TRUE(trainer);
    const Result<double> loss = trainer->differentiate(one.inputs, one.targets);
    ASSERT_TRUE(loss.ok()) << loss.error().text();
    const View<float> all = trainer->parameters().gradients();
    gradients.emplace_back(all.data(), all.data() + all.count());
    losses.push_back(loss.value());
  }
  EXPECT_EQ(losses[1], losses[0]);
  EXPECT_EQ(losses[2], losses[0]);
  double largest = 0;
  for (const float value : gradients[0]) largest = std::max(largest, std::fabs(double{value}));
  ASSERT_GT(largest, 0);
  // Half the rows are summed in another order. This model is steep: moving its parameters by one unit in the last place
  // moves gradients by 3e-4 of the largest.
  const double tolerance = std::string_view(GetParam()) == "qwen3_next" ? 2e-3 : 1e-5;
  for (std::size_t index = 0; index < gradients[0].size(); ++index) {
    ASSERT_EQ(gradients[1][index], gradients[0][index]) << index;
    ASSERT_EQ(gradients[2][index], gradients[0][index]) << index;
    ASSERT_NEAR(gradients[3][index], gradients[0][index], tolerance * largest) << index;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WholeModel, testing::ValuesIn(trainable_goldens),
                         [](const auto& one) { return std::string(one.param); });

TEST(Trainer, ModelsThatMakeEmbeddingsHaveNoNextToken) {
  const std::shared_ptr<const Model> model = open_golden("bert");
  ASSERT_TRUE(model);
  const Result<std::unique_ptr<Trainer>> trainer = Trainer::create(model->form(), model->weights(), {});
  ASSERT_FALSE(trainer.ok());
  EXPECT_NE(trainer.error().text().find("makes embeddings"), std::string_view::npos);
}

}  // namespace
}  // namespace ingot
