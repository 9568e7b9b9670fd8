#include "train/training_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "convert/quantizer.h"
#include "engine/generator.h"
#include "model/files/test_files.h"
#include "train/record/preset.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class TrainingRunTest : public testing::Test {
 protected:
  void SetUp() override {
    // A short name: errors that tell a long path cut it.
    folder_ = fs::path(testing::TempDir()) / ("run_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    configuration_ = preset_configuration("tiny").value();
    configuration_.data = {"tales:300"};
    configuration_.vocabulary = 400;
    configuration_.steps = 24;
    configuration_.warmup = 4;
    configuration_.learning_rate = 0.01;
    configuration_.evaluate_every = 8;
    configuration_.evaluation_batches = 2;
    configuration_.checkpoint_every = 5;
    configuration_.threads = 1;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::unique_ptr<TrainingRun> open(TrainingEvents events = {}) {
    Result<std::unique_ptr<TrainingRun>> run = TrainingRun::open(configuration_, std::move(events));
    EXPECT_TRUE(run.ok()) << run.error().text();
    return run.ok() ? std::move(run).value() : nullptr;
  }
  // The parameters after the run.
  std::vector<float> finish(TrainingRun& run) {
    const Result<RunState> state = run.run();
    EXPECT_TRUE(state.ok()) << state.error().text();
    const View<float> values = run.trainer().parameters().values();
    return {values.data(), values.data() + values.count()};
  }
  std::string refusal() {
    const Result<std::unique_ptr<TrainingRun>> run = TrainingRun::open(configuration_);
    return run.ok() ? "" : std::string(run.error().text());
  }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  }

  fs::path folder_;
  TrainingConfiguration configuration_;
};

TEST_F(TrainingRunTest, LearnsAndWritesEverythingDown) {
  configuration_.checkpoint = path("run.ckpt");
  configuration_.log = path("run.jsonl");
  configuration_.plot = path("run.html");
  const std::unique_ptr<TrainingRun> run = open();
  ASSERT_TRUE(run);
  finish(*run);
  const Result<std::vector<RunStep>> steps = read_run_log(configuration_.log);
  ASSERT_TRUE(steps.ok()) << steps.error().text();
  ASSERT_EQ(steps.value().size(), 24u);
  EXPECT_LT(steps.value().back().loss, steps.value().front().loss - 0.5);
  ASSERT_TRUE(steps.value().back().validation_loss);
  EXPECT_LT(*steps.value().back().validation_loss, *steps.value()[7].validation_loss);
  EXPECT_TRUE(fs::exists(configuration_.plot));

  ASSERT_TRUE(run->export_gguf(path("model.gguf"), *find_type_mix("Q8_0").value()).ok());
  const Result<std::shared_ptr<const Model>> model = Model::open(path("model.gguf"));
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Tokenizer& tokenizer = *model.value()->tokenizer().value();
  // A text begins where another one ended.
  EXPECT_EQ(tokenizer.encode("Once").value()[0], tokenizer.eos());
}

// However many threads, and whether it was stopped in between or not: the same numbers.
TEST_F(TrainingRunTest, StoppedAndTakenUpAgainItEndsTheSame) {
  const std::vector<float> expected = finish(*open());
  configuration_.checkpoint = path("run.ckpt");
  int steps = 0;
  const std::unique_ptr<TrainingRun> first = open({.should_stop = [&] { return ++steps == 7; }});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->run().value(), RunState::stopped);
  configuration_.threads = 2;
  const std::unique_ptr<TrainingRun> second = open();
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->is_resumed());
  EXPECT_EQ(second->steps_done(), 7);
  EXPECT_EQ(finish(*second), expected);
}

TEST_F(TrainingRunTest, EveryOptimizerAndStorageLearns) {
  for (const OptimizerKind kind :
       {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::lion, OptimizerKind::sgd}) {
    for (const StorageKind storage : {StorageKind::f32, StorageKind::bf16}) {
      configuration_.optimizer = kind;
      configuration_.storage = storage;
      configuration_.learning_rate = kind == OptimizerKind::sgd ? 0.3 : kind == OptimizerKind::lion ? 0.002 : 0.01;
      configuration_.accumulate = 2;
      configuration_.batch = 4;
      double first = 0;
      double last = 0;
      const std::unique_ptr<TrainingRun> run = open({.stepped = [&](const RunStep& step) {
        if (step.step == 1) first = step.loss;
        last = step.loss;
      }});
      ASSERT_TRUE(run);
      finish(*run);
      EXPECT_LT(last, first - 0.3) << optimizer_kind_names[static_cast<std::size_t>(kind)] << " "
                                   << storage_kind_names[static_cast<std::size_t>(storage)];
    }
  }
}

// A quantized model learns through adapters; merged into its weights, they say the same.
TEST_F(TrainingRunTest, AdaptersLearnOverAQuantizedModel) {
  configuration_.steps = 150;  // adapters cannot teach a model its words
  configuration_.evaluate_every = 0;
  configuration_.evaluation_batches = 8;
  const std::unique_ptr<TrainingRun> base = open();
  finish(*base);
  ASSERT_TRUE(base->export_gguf(path("base.gguf"), *find_type_mix("Q8_0").value()).ok());

  configuration_.model = path("base.gguf");
  configuration_.lora_rank = 4;
  configuration_.lora_targets = {"attn_q", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"};
  configuration_.steps = 100;
  configuration_.evaluate_every = 20;
  std::vector<double> validations;
  const std::unique_ptr<TrainingRun> run = open({.stepped = [&](const RunStep& step) {
    if (step.validation_loss) validations.push_back(*step.validation_loss);
  }});
  ASSERT_TRUE(run);
  EXPECT_LT(run->trainer().parameters().count(), base->trainer().parameters().count() / 3);
  finish(*run);
  EXPECT_LT(validations.back(), validations.front() - 0.01);
  ASSERT_TRUE(run->export_gguf(path("merged.gguf"), *find_type_mix("F32").value()).ok());

  configuration_.model = path("merged.gguf");
  configuration_.lora_rank = 0;
  configuration_.learning_rate = configuration_.least_learning_rate = 1e-12;  // only to ask for its loss
  configuration_.steps = 1;
  configuration_.warmup = 0;
  configuration_.evaluate_every = 1;
  double merged = 0;
  finish(*open({.stepped = [&](const RunStep& step) { merged = *step.validation_loss; }}));
  EXPECT_NEAR(merged, validations.back(), 0.01);
}

TEST(TrainingAdapters, TheTableOfEmbeddingsHasNone) {
  Weights weights;
  for (const std::string_view name : {"token_embd.weight", "blk.0.attn_q.weight"}) {
    ASSERT_TRUE(weights.add_owned(name, DType::f32, {4, 4}).ok());
  }
  EXPECT_TRUE(add_adapters(weights, {.targets = {"attn_q"}}).ok());
  EXPECT_FALSE(add_adapters(weights, {.targets = {"token_embd"}}).ok());
}

TEST_F(TrainingRunTest, CurvesAreDrawnWithoutALogToo) {
  configuration_.plot = path("run.html");
  finish(*open());
  EXPECT_TRUE(fs::exists(configuration_.plot));
}

TEST_F(TrainingRunTest, BadDataIsAnErrorThatSaysWhat) {
  write("empty.txt", "");
  configuration_.data = {path("empty.txt")};
  EXPECT_NE(refusal().find("empty.txt"), std::string::npos) << refusal();
  write("wrong.txt", "good text\xff and bad");
  configuration_.data = {path("wrong.txt")};
  EXPECT_NE(refusal().find("UTF-8"), std::string::npos) << refusal();
  configuration_.data = {path("none.txt")};
  EXPECT_NE(refusal().find("none.txt"), std::string::npos) << refusal();
  configuration_.data = {"tales:none"};
  EXPECT_NE(refusal().find("tales:N"), std::string::npos) << refusal();
  configuration_.data = {};
  EXPECT_NE(refusal().find("data"), std::string::npos) << refusal();
}

TEST_F(TrainingRunTest, ACheckpointOfAnotherShapeIsRefusedAndStays) {
  configuration_.checkpoint = path("run.ckpt");
  finish(*open());
  const auto size = fs::file_size(configuration_.checkpoint);
  configuration_.width = 64;
  EXPECT_NE(refusal().find("run.ckpt"), std::string::npos) << refusal();
  EXPECT_EQ(fs::file_size(configuration_.checkpoint), size);
}

TEST_F(TrainingRunTest, GoesOnOnlyWithTheSettingsItBeganWith) {
  // The same words in another order: what is learnt of them for a tokenizer is the same.
  std::string forwards;
  std::string backwards;
  for (int word = 0; word < 3000; ++word) {
    forwards += std::to_string(word) + "\n";
    backwards += std::to_string(2999 - word) + "\n";
  }
  write("words.txt", forwards);
  write("others.txt", backwards);
  configuration_.checkpoint = path("run.ckpt");
  configuration_.tokenizer = "";
  configuration_.data = {path("words.txt")};
  configuration_.validation_fraction = 0;
  configuration_.steps = 2;
  configuration_.warmup = 0;
  finish(*open());
  const TrainingConfiguration begun = configuration_;
  const auto refused = [&](std::string_view key, std::string_view value, std::string_view both) {
    configuration_ = begun;
    EXPECT_TRUE(set_configuration_key(configuration_, key, value).ok()) << key;
    EXPECT_NE(refusal().find(both), std::string::npos) << key << ": " << refusal();
  };
  refused("seed", "77", "seed: expected '1', with which the run began, found '77'");
  refused("length", "16", "length: expected '");
  refused("batch", "3", "found '3'");
  refused("accumulate", "2", "accumulate: expected '1', with which the run began, found '2'");
  refused("optimizer", "lion", "optimizer: expected 'adamw', with which the run began, found 'lion'");
  refused("learning_rate", "0.02", "learning_rate: expected '0.01', with which the run began, found '0.02'");
  refused("schedule", "linear", "schedule: expected 'cosine', with which the run began, found 'linear'");
  refused("steps", "5", "steps: expected '2', with which the run began, found '5'");
  refused("weight_decay", "0.2", "weight_decay: expected '0.1', with which the run began, found '0.2'");
  refused("data", path("others.txt"), "data: expected what the run began with, found other tokens");

  // What changes no number may change, and so may the names of the same data.
  configuration_ = begun;
  fs::copy_file(path("words.txt"), path("moved.txt"));
  configuration_.data = {path("moved.txt")};
  configuration_.threads = 2;
  configuration_.recompute = Recompute::nothing;
  configuration_.evaluate_every = 3;
  configuration_.log = path("run.jsonl");
  EXPECT_EQ(refusal(), "");
}

TEST_F(TrainingRunTest, AFullDiskLeavesTheLastCheckpointGood) {
  configuration_.checkpoint = path("run.ckpt");
  int steps = 0;
  ASSERT_EQ(open({.should_stop = [&] { return ++steps == 5; }})->run().value(), RunState::stopped);
  {
    const std::unique_ptr<TrainingRun> run = open();
    const FileSizeLimit limit(1024);
    const Result<RunState> state = run->run();
    ASSERT_FALSE(state.ok());
    EXPECT_NE(state.error().text().find("run.ckpt"), std::string_view::npos) << state.error().text();
  }
  const std::unique_ptr<TrainingRun> again = open();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->steps_done(), 5);
}

TEST_F(TrainingRunTest, ALossThatIsNoNumberEndsTheRun) {
  configuration_.optimizer = OptimizerKind::sgd;
  configuration_.clip_norm = 0;
  configuration_.learning_rate = 1e18;
  configuration_.warmup = 0;
  const std::unique_ptr<TrainingRun> run = open();
  const Result<RunState> state = run->run();
  ASSERT_FALSE(state.ok());
  EXPECT_NE(state.error().text().find("step "), std::string_view::npos) << state.error().text();
}

}  // namespace
}  // namespace ingot
