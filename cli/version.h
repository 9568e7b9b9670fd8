// What this program is: its number, the commit it was made of, by which compiler, for which machines.
#pragma once

namespace ingot {

// As a few lines, or as JSON.
void print_version(bool json);

}  // namespace ingot
