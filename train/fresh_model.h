// A model that has learnt nothing yet: its numbers from a configuration, its weights from a seed. Which weights there
// are nobody lists: they are those that the architecture's template asks for.
#pragma once

#include "model/template/template.h"
#include "train/record/configuration.h"

namespace ingot {

// Precondition: a completed() configuration.
Result<ModelSource> make_fresh_model(const TrainingConfiguration& configuration);

}  // namespace ingot
