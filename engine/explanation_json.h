// An explanation as JSON, for programs and for the page.
#pragma once

#include <string>

#include "engine/explanation.h"

namespace ingot {

// Times are in microseconds; what was not measured is null. `indent` of -1 puts everything on one line.
std::string explanation_json(const Explanation& explanation, int indent = 1);

}  // namespace ingot
