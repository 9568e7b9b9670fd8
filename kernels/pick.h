// Which operations a command line means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/contract/operation.h"

namespace ingot {

// All operations for an empty text; otherwise those of the family, or the one operation, of that name. An unknown name
// is an error that offers the nearest ones.
Result<std::vector<const Operation*>> pick_operations(const std::string& text);

// Fails unless at least one of the operations has a variant of that name.
Result<void> require_variant(const std::vector<const Operation*>& operations, const std::string& variant);

// What is said where none of the operations that the text means, or none of their variants of this name, runs on a
// processor. An empty name: any.
Error nothing_runs_there(const std::string& text, const std::string& variant, std::string_view processor);

}  // namespace ingot
