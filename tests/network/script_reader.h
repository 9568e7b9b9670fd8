// Reads packetdrill's language (google/packetdrill's syntax.md, and what freebsd-net/packetdrill adds to it).
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tests/network/script.h"

namespace ingot::network_scripts {

// An error begins with line and column, and says what was expected there and what was found.
Result<Script> read_script(std::string_view text, const std::set<std::string>& defined = {});

}  // namespace ingot::network_scripts
