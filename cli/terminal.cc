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

// A terminal that does not say what it is, such as a booted machine's console, may end in a file: nothing can be erased
// there.
bool can_erase(std::FILE* stream) {
  const char* kind = std::getenv("TERM");
  return is_terminal(stream) && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

void print_message(const std::string& mark, std::string_view text) {
  std::fprintf(stderr, "%s %.*s\n", mark.c_str(), static_cast<int>(text.size()), text.data());
}

}  // namespace

int refuse_usage(const Error& error) {
  print_error(error.text());
  return exit_usage;
}

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool wants_colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

std::string coloured(std::string_view text, Colour colour, std::FILE* stream) {
  if (colour == Colour::plain || !wants_colours() || !is_terminal(stream)) return std::string(text);
  return escape_of(colour) + std::string(text) + "\033[0m";
}

int finish_command(const Result<void>& result) {
  if (result.ok()) return exit_success;
  print_error(result.error().text());
  return exit_failure;
}

void print_error(std::string_view text) { print_message(coloured("error:", Colour::red, stderr), text); }
void print_warning(std::string_view text) { print_message(coloured("warning:", Colour::yellow, stderr), text); }
void print_note(std::string_view text) { std::fprintf(stderr, "%s\n", coloured(text, Colour::dim, stderr).c_str()); }

ProgressBar::ProgressBar(std::string_view what, int steps)
    : what_(what), steps_(std::max(steps, 1)), visible_(can_erase(stderr)) {}

ProgressBar::~ProgressBar() {
  if (visible_) std::fprintf(stderr, "\r\033[K");
}

void ProgressBar::reach(int done, std::string_view now) {
  done_ = std::min(done, steps_);
  if (!visible_ || done_ == drawn_) return;
  drawn_ = done_;
  std::string bar(static_cast<std::size_t>(bar_width), '.');
  std::fill_n(bar.begin(), bar_width * done_ / steps_, '#');
  std::fprintf(stderr, "\r\033[K%s [%s] %d/%d %.*s", what_.c_str(), bar.c_str(), done_, steps_,
               static_cast<int>(now.size()), now.data());
  std::fflush(stderr);
}

}  // namespace ingot
