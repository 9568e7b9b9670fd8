// Where a command may write: never over what it reads.
#pragma once

#include <string>

#include "base/result.h"

namespace ingot {

// Fails where `output` is `input` itself (by whatever name), another piece of the same model, a file that the folder
// `input` already holds, or a folder.
Result<void> require_other_file(const std::string& input, const std::string& output);

}  // namespace ingot
