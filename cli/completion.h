// Completion of command lines by a shell: a script of all commands, their options and the words that these take,
// written off what the program itself reads.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace ingot {

enum class Shell : std::uint8_t { bash, zsh };

std::string completion_script(const CLI::App& application, Shell shell);

}  // namespace ingot
