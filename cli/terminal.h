// What a person sees: colours where the terminal shows them and nobody asked for none, a progress bar where there is a
// terminal to draw it on, errors on standard error.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace ingot {

enum class Colour : unsigned char { plain, green, red, yellow, dim, bold };

bool is_terminal(std::FILE* stream);
// Unless NO_COLOR is set to something.
bool wants_colours();

// The text wrapped in escape codes if `stream` is a terminal and NO_COLOR is not set; the text alone otherwise.
std::string coloured(std::string_view text, Colour colour, std::FILE* stream = stdout);

void print_error(std::string_view text);
void print_warning(std::string_view text);  // what was asked for is done, and may not be what was meant
void print_note(std::string_view text);     // one dim line, on standard error like the others

// A bar on standard error, drawn only on a terminal that says by TERM what it is, and erased when done: output that is
// piped or kept stays clean.
class ProgressBar {
 public:
  ProgressBar(std::string_view what, int steps);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void advance(std::string_view now) { reach(done_ + 1, now); }
  // Drawn again only where it changed.
  void reach(int done, std::string_view now);

 private:
  std::string what_;
  int steps_;
  int done_ = 0;
  int drawn_ = -1;
  bool visible_;
};

inline double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace ingot
