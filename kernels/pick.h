// Which operations a command line means.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/contract/operation.h"

namespace ingot {

// All operations for an empty text; otherwise those of the family, or the one operation, of that name. An unknown name
// is an error that offers the nearest ones.
Result<std::vector<const Operation*>> pick_operations(const std::string& text);

// Fails unless at least one of the operations has a variant of that name.
Result<void> require_variant(const std::vector<const Operation*>& operations, const std::string& variant);

}  // namespace ingot
