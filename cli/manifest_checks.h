// Whether a word of the command line can stand in a manifest, one key each.
#pragma once

#include <string>

#include "base/result.h"

namespace ingot {

Result<void> check_right(const std::string& name);
Result<void> check_address(const std::string& text);
Result<void> check_descriptors(const std::string& option);

}  // namespace ingot
