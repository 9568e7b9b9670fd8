// `ingot bench model --compare A B`: two models, or two ways of running one, timed in turn.
#pragma once

#include <string>
#include <vector>

#include "cli/session_options.h"
#include "engine/measure.h"

namespace ingot {

// One side of a comparison: settings such as "threads=1,cache=q8_0" of the model that the options name, or else another
// model's path.
Result<ModelOptions> options_of_side(ModelOptions options, const std::string& word);

// Prints how fast both are and B's speed over A's, the median over the rounds with its spread: what the machine does
// meanwhile meets both alike.
Result<void> compare_models(const ModelOptions& options, const GenerationRequest& request,
                            const std::vector<std::string>& sides, bool json);

}  // namespace ingot
