// What this program is: its number, the commit it was made of, by which compiler, for which machines.
#pragma once

#include <string>

namespace ingot {

// "0.1.0 (cbb0cd5c2f6d)".
std::string version_name();

// As a few lines, or as JSON.
void print_version(bool json);

}  // namespace ingot
