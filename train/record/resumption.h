// Whether a run may go on from a checkpoint: only with the settings that it began with, or it would be neither the one
// run nor the other.
#pragma once

#include "train/record/configuration.h"

namespace ingot {

// `begun` is the checkpoint's text of its configuration. Keys may differ that change no number: how many threads, what
// is recomputed, what is written down and where; `steps` too where the learning rate is constant and does not look at
// it. Names of data and tokenizers may differ as long as what they hold is the same, which the checkpoint's hashes say.
// The error names the first key that differs, and both values.
Result<void> require_same_run(std::string_view begun, const TrainingConfiguration& configuration);

}  // namespace ingot
