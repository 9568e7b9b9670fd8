// Text that another program or a file gives on standard input.
#pragma once

#include <string>

#include "base/result.h"

namespace ingot {

// Whether something was put there on purpose: a pipe, a file or a socket. A terminal is none, and neither is a console
// that a machine boots with.
bool has_piped_input();

// All of it, to its end; at most 1 GiB. Whoever waits long for it is told what for.
Result<std::string> read_standard_input();

// A prompt from what -p gave and what was piped: the piped text continues the given one on a line of its own. The
// line's end that programs put behind their output is no part of it.
std::string joined_prompt(const std::string& given, std::string piped);

}  // namespace ingot
