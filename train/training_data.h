// What a run learns from: its tokenizer, and its data as tokens.
#pragma once

#include "train/data/data_set.h"
#include "train/record/configuration.h"

namespace ingot {

// A file of the configuration's data may also be "tales:N": the first N tales of train/tales with the run's seed.
inline constexpr std::string_view tales_prefix = "tales:";

struct TrainingData {
  Tokenizer tokenizer;
  DataSet set;
};

// What is being done, and how much of it is.
using PreparationProgress = std::function<void(std::string_view what, double share)>;

// The tokenizer is `own`'s where the configuration names none, and where there is neither, one that is learnt from the
// data, of the configuration's vocabulary. Precondition: a completed() configuration.
Result<TrainingData> prepare_training_data(const TrainingConfiguration& configuration, const Tokenizer* own,
                                           const PreparationProgress& progress = {});

}  // namespace ingot
