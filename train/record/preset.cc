#include "train/record/preset.h"

#include "model/files/quoted.h"
#include "train/record/nearest_name.h"

namespace ingot {

namespace {

constexpr Preset preset_table[] = {
    {"tales", "a small model of short tales, trained in minutes on a few cores", R"(
architecture = llama
vocabulary = 2560
width = 160
layers = 5
heads = 5
hidden = 448
context = 256
tie_embeddings = true
deviation = 0.06

data = tales:20000
windows = documents
validation_fraction = 0.02
batch = 24
steps = 3000
optimizer = adamw
learning_rate = 0.006
least_learning_rate = 0.00001
warmup = 150
schedule = cosine
weight_decay = 0.1
beta2 = 0.95
clip_norm = 1

checkpoint_every = 500
evaluate_every = 250
evaluation_batches = 16
)"},
    {"tiny", "the least that learns anything: seconds, for tests", R"(
architecture = llama
vocabulary = 256
width = 32
layers = 2
heads = 2
hidden = 96
context = 64
tie_embeddings = true

batch = 8
steps = 200
optimizer = adamw
learning_rate = 0.003
least_learning_rate = 0.0003
warmup = 20
schedule = cosine

checkpoint_every = 100
evaluate_every = 50
evaluation_batches = 4
)"},
};

}  // namespace

std::span<const Preset> presets() { return preset_table; }

Result<TrainingConfiguration> preset_configuration(std::string_view name) {
  for (const Preset& preset : preset_table) {
    if (preset.name != name) continue;
    TrainingConfiguration configuration;
    const Result<void> applied = apply_configuration(configuration, preset.text);
    if (!applied.ok()) return applied.error().within("preset ", name);
    return configuration;
  }
  return Error::of(ErrorCode::not_found, "expected a known preset, found ", Quoted{name}, "; the nearest is '",
                   nearest_name(name, presets()), "'");
}

}  // namespace ingot
