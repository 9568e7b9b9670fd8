// Commands: what the shell commands of scripts mean here: settings of the stack, and questions about its connections.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tests/network/stack_under_test.h"

namespace ingot::network_scripts {

// Nothing is run. An error of the code `unsupported`: a command without a meaning here; `corrupt`: a question whose
// answer is another than the script wants.
Result<void> run_command(std::string_view text, Profile& profile, StackUnderTest& stack);

}  // namespace ingot::network_scripts
