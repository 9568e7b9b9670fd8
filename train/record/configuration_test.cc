#include "train/record/configuration.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "model/files/test_files.h"
#include "train/record/configuration_keys.h"
#include "train/record/preset.h"

namespace ingot {
namespace {

TrainingConfiguration read_text(std::string_view text) {
  TrainingConfiguration configuration;
  const Result<void> read = apply_configuration(configuration, text);
  EXPECT_TRUE(read.ok()) << read.error().text();
  return configuration;
}

void expect_refused_text(std::string_view text, std::string_view part) {
  TrainingConfiguration configuration;
  configuration.width = 7;
  const TrainingConfiguration before = configuration;
  const Result<void> read = apply_configuration(configuration, text);
  ASSERT_FALSE(read.ok()) << part;
  EXPECT_NE(read.error().text().find(part), std::string_view::npos) << read.error().text();
  EXPECT_EQ(configuration, before);
}

TEST(Configuration, LinesSetKeysAndCommentsDoNot) {
  const TrainingConfiguration configuration = read_text(
      "# width = 1\r\n"
      "\n"
      "  width=160 # a comment\r\n"
      "\tlearning_rate =\t2e-3\n"
      "tie_embeddings = false\n"
      "optimizer = lion\n"
      "data = a.txt,  b c.txt ,\"d, # \\\"e\\\".txt\"\n"
      "log = runs/one#2.jsonl\n"
      "tokenizer = \"x # y\" # z\n"
      "lora_targets =\n"
      "seed = 9223372036854775807");
  EXPECT_EQ(configuration.width, 160);
  EXPECT_EQ(configuration.learning_rate, 2e-3);
  EXPECT_FALSE(configuration.tie_embeddings);
  EXPECT_EQ(configuration.optimizer, OptimizerKind::lion);
  EXPECT_EQ(configuration.data, (std::vector<std::string>{"a.txt", "b c.txt", "d, # \"e\".txt"}));
  EXPECT_EQ(configuration.log, "runs/one#2.jsonl");
  EXPECT_EQ(configuration.tokenizer, "x # y");
  EXPECT_TRUE(configuration.lora_targets.empty());
  EXPECT_EQ(configuration.seed, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(configuration.layers, TrainingConfiguration().layers);
}

TEST(Configuration, ErrorsNameLineKeyExpectedAndFound) {
  expect_refused_text("steps = 3\nwidht = 3", "line 2: expected a known key, found 'widht'; the nearest is 'width'");
  expect_refused_text("width = wide", "line 1: width: expected an integer from 1 to 65536, found 'wide'");
  expect_refused_text("width = 0", "found '0'");
  expect_refused_text("width = 65537", "found '65537'");
  expect_refused_text("width = 3.5", "found '3.5'");
  expect_refused_text("width =", "found ''");
  expect_refused_text("width = 99999999999999999999", "found '99999999999999999999'");
  expect_refused_text("learning_rate = 0", "learning_rate: expected a number above 0, found '0'");
  expect_refused_text("learning_rate = nan", "found 'nan'");
  expect_refused_text("learning_rate = 1e999", "found '1e999'");
  expect_refused_text("weight_decay = -1", "weight_decay: expected a number of at least 0");
  expect_refused_text("beta1 = 1", "beta1: expected a number from 0 to below 1, found '1'");
  expect_refused_text("recompute = yes", "recompute: expected one of nothing, cheap, layers, found 'yes'");
  expect_refused_text("optimizer = Adam", "optimizer: expected one of adamw, adam, lion, sgd, found 'Adam'");
  expect_refused_text("\n\nwidth", "line 3: expected 'key = value', found 'width'");
  expect_refused_text("width = 1\nwidth = 2", "line 2: width: expected it once, found it on line 1 too");
  expect_refused_text("data = a,,b", "data: expected texts between commas");
  expect_refused_text("data = a,", "data: ");
  expect_refused_text("data = \"a", "data: ");
  expect_refused_text("data = \"a\" b", "data: ");
  expect_refused_text("log = a\"b\"", "log: expected a text");
  expect_refused_text("log = \"a\\n\"", "log: ");
  expect_refused_text(std::string_view("log = a\0b", 9), "found 'a\\x00b'");
  expect_refused_text(std::string((1 << 20) + 1, '\n'), "expected at most 1048576 bytes");
  expect_refused_text(std::string(1 << 20, 'w'), "...'");
  expect_refused_text(std::string(1 << 19, 'w') + " = 1", "the nearest is");
}

TEST(Configuration, WhatIsWrittenReadsTheSame) {
  TrainingConfiguration configuration;
  configuration.learning_rate = 1.0 / 3;
  configuration.data = {"", "a", " b ", "c,d", "e#f", "\"", "\\", "\\\"", "g\\h"};
  configuration.checkpoint = " leading and \"quoted\" #1";
  configuration.model = "back\\slash";
  configuration.storage = StorageKind::bf16;
  configuration.schedule = ScheduleKind::constant;
  configuration.recompute = Recompute::layers;
  EXPECT_EQ(read_text(text_of(configuration)), configuration) << text_of(configuration);
  EXPECT_EQ(read_text(text_of(TrainingConfiguration())), TrainingConfiguration());
}

TEST(Configuration, NoTextCrashesAndWhatReadsWritesBack) {
  RandomNumbers numbers(7);
  const std::string letters = "widthdata=#\",\\ \n\t1e-.";
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 2 == 0 ? "data = " : "log = ";
    for (std::uint64_t left = numbers.below(24); left > 0; --left) text += letters[numbers.below(letters.size())];
    TrainingConfiguration configuration;
    if (!apply_configuration(configuration, text).ok()) continue;
    ++accepted;
    TrainingConfiguration again;
    ASSERT_TRUE(apply_configuration(again, text_of(configuration)).ok()) << text;
    ASSERT_EQ(again, configuration) << text;
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Configuration, ACommandLinesKeyIsSetLikeALine) {
  TrainingConfiguration configuration;
  ASSERT_TRUE(set_configuration_key(configuration, "steps", " 12 ").ok());
  EXPECT_EQ(configuration.steps, 12);
  EXPECT_FALSE(set_configuration_key(configuration, "steps", "twelve").ok());
  EXPECT_NE(set_configuration_key(configuration, "step", "1").error().text().find("the nearest is 'steps'"),
            std::string_view::npos);
}

void expect_incomplete(const TrainingConfiguration& configuration, std::string_view part) {
  const Result<TrainingConfiguration> result = completed(configuration);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text().find(part), std::string_view::npos) << result.error().text();
}

TEST(Configuration, CompletingFillsInZerosAndChecksKeysAgainstEachOther) {
  const TrainingConfiguration full = completed(read_text("width = 160\nheads = 5\ncontext = 64")).value();
  EXPECT_EQ(full.key_heads, 5);
  EXPECT_EQ(full.hidden, 448);
  EXPECT_EQ(full.length, 64);
  EXPECT_EQ(completed(full).value(), full);
  EXPECT_EQ(completed(read_text("architecture = gpt2\nwidth = 160\nheads = 5")).value().hidden, 640);
  expect_incomplete(read_text("width = 160\nheads = 7"), "heads: expected a divisor of width (160), found 7");
  expect_incomplete(read_text("heads = 8\nkey_heads = 3"), "key_heads: expected a divisor of heads (8), found 3");
  expect_incomplete(read_text("context = 8\nlength = 9"), "length: expected at most the context (8), found 9");
  expect_incomplete(read_text("steps = 9"), "warmup: expected from 0 to steps (9), found 100");
  expect_incomplete(read_text("lora_rank = 4"), "lora_rank: expected 0 without a model");
  EXPECT_TRUE(completed(read_text("lora_rank = 4\nmodel = m.gguf\nheads = 7")).ok());
  TrainingConfiguration bad;
  bad.heads = 0;
  expect_incomplete(bad, "heads: expected an integer from 1 to 1024, found '0'");
  bad = {};
  bad.log = "a\nb";
  expect_incomplete(bad, "log: expected a text");
}

TEST(Configuration, EveryKeyIsDescribedOnce) {
  const std::string table = describe_keys();
  for (const ConfigurationKey& key : configuration_keys()) {
    const std::string start = "\n  " + std::string(key.name) + " ";
    const std::size_t found = table.find(start);
    EXPECT_NE(found, std::string::npos) << key.name;
    EXPECT_EQ(table.find(start, found + 1), std::string::npos) << key.name;
  }
  EXPECT_NE(table.find("one of cosine, linear, constant"), std::string::npos);
}

TEST(Configuration, FilesAreReadAndNamedInErrors) {
  const TemporaryFolder folder;
  folder.write("good", "width = 64\n");
  folder.write("bad", "width = x\n");
  TrainingConfiguration configuration;
  ASSERT_TRUE(apply_configuration_file(configuration, folder.file("good")).ok());
  EXPECT_EQ(configuration.width, 64);
  const Error error = apply_configuration_file(configuration, folder.file("bad")).error();
  EXPECT_NE(error.text().find("/bad': line 1: width: "), std::string_view::npos) << error.text();
  EXPECT_FALSE(apply_configuration_file(configuration, folder.file("absent")).ok());
}

TEST(Configuration, EveryPresetIsComplete) {
  for (const Preset& preset : presets()) {
    const Result<TrainingConfiguration> configuration = preset_configuration(preset.name);
    ASSERT_TRUE(configuration.ok()) << configuration.error().text();
    const Result<TrainingConfiguration> full = completed(configuration.value());
    EXPECT_TRUE(full.ok()) << preset.name << ": " << full.error().text();
  }
  EXPECT_EQ(preset_configuration("tiny").value().width, 32);
  EXPECT_EQ(preset_configuration("tales").value().vocabulary, 2560);
  EXPECT_NE(preset_configuration("tale").error().text().find("the nearest is 'tales'"), std::string_view::npos);
}

}  // namespace
}  // namespace ingot
