// An explanation as a page: the circuit to zoom into, where time and bytes go, the arena over time. Self-contained:
// inline style, script and data, no network.
#pragma once

#include <string>

#include "engine/explanation.h"

namespace ingot {

// The page itself, for tests.
std::string explanation_html(const std::string& title, const Explanation& explanation);

// Written to a temporary name beside the target and then renamed: a full disk leaves no half page.
Result<void> write_explanation_html(const std::string& path, const std::string& title, const Explanation& explanation);

}  // namespace ingot
