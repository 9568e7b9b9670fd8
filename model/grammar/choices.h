// A text that is one of several.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "model/grammar/grammar.h"

namespace ingot::grammar {

Result<std::shared_ptr<const Grammar>> compile_choices(std::span<const std::string> choices,
                                                       const CompileLimits& limits = {});

}  // namespace ingot::grammar
