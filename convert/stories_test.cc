// A real model end to end: weights and vocabulary from another program's files, and the text that program prints.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "convert/import.h"
#include "engine/generator.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class StoriesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = outside_data("stories260K");
    if (!folder) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no folder stories260K";
    folder_ = *folder;
    const Result<void> imported =
        import_llama2c(folder_ + "/stories260K.bin", folder_ + "/tok512.bin", files_.file("stories.gguf"));
    ASSERT_TRUE(imported.ok()) << imported.error().text();
    Result<std::shared_ptr<const Model>> model = Model::open(files_.file("stories.gguf"));
    ASSERT_TRUE(model.ok()) << model.error().text();
    model_ = model.value();
  }

  // That program counts a pass over every token but the first as a step, and prints a line end at the end.
  std::string story(std::string_view beginning, std::int64_t steps) {
    Result<std::unique_ptr<Session>> session = Session::create(model_, {.threads = 2, .cache = DType::f32});
    EXPECT_TRUE(session.ok()) << session.error().text();
    const Result<const Tokenizer*> tokenizer = model_->tokenizer();
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().text();
    Result<std::vector<TokenId>> prompt = tokenizer.value()->encode(beginning);
    EXPECT_TRUE(prompt.ok()) << prompt.error().text();
    Result<Sampler> sampler = Sampler::create(session.value()->table(), {});
    EXPECT_TRUE(sampler.ok()) << sampler.error().text();
    const int sequence = session.value()->sequences().add().value();
    const std::int64_t left = steps - static_cast<std::int64_t>(prompt.value().size()) + 1;
    const Result<GenerationReport> report = generate(*session.value(), *tokenizer.value(), sampler.value(), sequence,
                                                     prompt.value(), left, [](std::string_view) { return true; });
    EXPECT_TRUE(report.ok()) << report.error().text();
    return std::string(beginning) + report.value().text + "\n";
  }

  TemporaryFolder files_;
  std::string folder_;
  std::shared_ptr<const Model> model_;
};

TEST_F(StoriesTest, NothingToBeginWith) {
  EXPECT_EQ(story("", 256), text_of(folder_ + "/greedy_256_steps_no_prompt.txt"));
}

TEST_F(StoriesTest, AGivenBeginning) {
  EXPECT_EQ(story("Lily and Tom", 200), text_of(folder_ + "/greedy_200_steps_lily_and_tom.txt"));
}

}  // namespace
}  // namespace ingot
