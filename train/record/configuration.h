// What a training run is to do, as a text of `key = value` lines:
//
//   # a comment; one may also follow a value, after a blank
//   width = 160
//   data = tales.txt, "names with a comma, or a # inside.txt"
//
// Lists are separated by commas. A text may stand in double quotes, with \" and \\ for a quote and a backslash inside;
// it must where it holds a quote, a #, or, in a list, a comma. A key may be given once. describe_keys() lists them all.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/circuit/recompute.h"
#include "train/record/schedule.h"

namespace ingot {

enum class OptimizerKind : std::uint8_t { adamw, adam, lion, sgd };
enum class WindowKind : std::uint8_t { even, documents };
enum class StorageKind : std::uint8_t { f32, bf16 };

// In the enumerations' order.
inline constexpr std::array<std::string_view, 4> optimizer_kind_names = {"adamw", "adam", "lion", "sgd"};
inline constexpr std::array<std::string_view, 2> window_kind_names = {"even", "documents"};
inline constexpr std::array<std::string_view, 2> storage_kind_names = {"f32", "bf16"};

// The keys' meanings stand in configuration_keys.cc.
struct TrainingConfiguration {
  std::string architecture = "llama";
  std::int64_t vocabulary = 2048;
  std::int64_t width = 256;
  std::int64_t layers = 4;
  std::int64_t heads = 8;
  std::int64_t key_heads = 0;
  std::int64_t hidden = 0;
  std::int64_t context = 256;
  bool tie_embeddings = true;
  double deviation = 0.02;

  std::string model;
  std::int64_t lora_rank = 0;
  double lora_alpha = 16;
  std::vector<std::string> lora_targets = {"attn_q", "attn_v"};

  std::vector<std::string> data;
  std::string tokenizer;
  WindowKind windows = WindowKind::even;
  double validation_fraction = 0.05;

  std::int64_t batch = 16;
  std::int64_t accumulate = 1;
  std::int64_t length = 0;
  std::int64_t steps = 1000;
  std::int64_t seed = 1;
  StorageKind storage = StorageKind::f32;
  Recompute recompute = Recompute::cheap;
  std::int64_t threads = 0;

  OptimizerKind optimizer = OptimizerKind::adamw;
  double learning_rate = 1e-3;
  double least_learning_rate = 1e-4;
  std::int64_t warmup = 100;
  ScheduleKind schedule = ScheduleKind::cosine;
  double weight_decay = 0.1;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double momentum = 0.9;
  double clip_norm = 1;

  std::string checkpoint;
  std::int64_t checkpoint_every = 500;
  std::int64_t evaluate_every = 100;
  std::int64_t evaluation_batches = 8;
  std::string log;
  std::string plot;

  bool operator==(const TrainingConfiguration&) const = default;
};

// Sets the keys that `text` gives and leaves the others, so that texts can be laid over each other: a preset, then a
// file. An error names the line; on an error the configuration is as before.
Result<void> apply_configuration(TrainingConfiguration& configuration, std::string_view text);
Result<void> apply_configuration_file(TrainingConfiguration& configuration, const std::string& path);
// One key, as from a command line. The value is what may stand behind the `=`.
Result<void> set_configuration_key(TrainingConfiguration& configuration, std::string_view key, std::string_view value);

// What a run uses: zeros that stand for another number replaced by it, and the keys checked against each other.
Result<TrainingConfiguration> completed(TrainingConfiguration configuration);

LearningRateSchedule schedule_of(const TrainingConfiguration& configuration);

// Every key with its value; read again it gives the same configuration. Precondition: texts without control characters,
// which completed() refuses.
std::string text_of(const TrainingConfiguration& configuration);

// The table of keys for people: name, default, meaning, what is expected.
std::string describe_keys();

}  // namespace ingot
