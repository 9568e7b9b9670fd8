#include "cli/terminal.h"

#include "cli/command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace ingot {
namespace {

constexpr int bar_width = 30;

const char* escape_of(Colour colour) {
  switch (colour) {
    case Colour::green: return "\033[32m";
    case Colour::red: return "\033[31m";
    case Colour::yellow: return "\033[33m";
    case Colour::dim: return "\033[2m";
    case Colour::bold: return "\033[1m";
    case Colour::plain: break;
  }
  return "";
}

bool shows_colours(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  return (no_colour == nullptr || *no_colour == '\0') && is_terminal(stream);
}

}  // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

std::string coloured(std::string_view text, Colour colour, std::FILE* stream) {
  if (colour == Colour::plain || !shows_colours(stream)) return std::string(text);
  return escape_of(colour) + std::string(text) + "\033[0m";
}

int finish_command(const Result<void>& result) {
  if (result.ok()) return exit_success;
  print_error(result.error().text());
  return exit_failure;
}

void print_error(std::string_view text) {
  std::fprintf(stderr, "%s %.*s\n", coloured("error:", Colour::red, stderr).c_str(), static_cast<int>(text.size()),
               text.data());
}

ProgressBar::ProgressBar(std::string_view what, int steps)
    : what_(what), steps_(std::max(steps, 1)), visible_(is_terminal(stderr)) {}

ProgressBar::~ProgressBar() {
  if (visible_) std::fprintf(stderr, "\r\033[K");
}

void ProgressBar::advance(std::string_view now) {
  done_ = std::min(done_ + 1, steps_);
  if (!visible_) return;
  std::string bar(static_cast<std::size_t>(bar_width), '.');
  std::fill_n(bar.begin(), bar_width * done_ / steps_, '#');
  std::fprintf(stderr, "\r\033[K%s [%s] %d/%d %.*s", what_.c_str(), bar.c_str(), done_, steps_,
               static_cast<int>(now.size()), now.data());
  std::fflush(stderr);
}

}  // namespace ingot
