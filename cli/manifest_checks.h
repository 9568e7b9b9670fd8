// Whether a word of the command line can stand in a manifest, one key each, or on the kernel's command line.
#pragma once

#include <string>

#include "base/result.h"

namespace ingot {

Result<void> check_right(const std::string& name);
Result<void> check_address(const std::string& text);
Result<void> check_environment(const std::string& option);
Result<void> check_descriptors(const std::string& option);

// Of the kernel's command line, where blanks part words and -- begins the program's arguments.
Result<void> check_kernel_word(const std::string& word);

}  // namespace ingot
