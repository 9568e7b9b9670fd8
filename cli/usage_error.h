// What was wrong with a command line, as a sentence that says what to do.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ingot {

std::string usage_error(const CLI::App& application, const CLI::ParseError& error);

}  // namespace ingot
