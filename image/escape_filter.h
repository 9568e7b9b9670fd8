// A console's output without the escape codes that only a terminal understands, piece by piece as it comes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::image {

enum class EscapeCodes : std::uint8_t {
  all,         // a terminal that shows colours
  no_colours,  // a terminal whose user asked for none (NO_COLOR): the cursor still moves
  none,        // a file or a pipe
};

class EscapeFilter {
 public:
  explicit EscapeFilter(EscapeCodes kept) : kept_(kept) {}

  // What remains of the piece. A code that is not whole yet waits for the next piece; one that never becomes whole is
  // nothing that anyone could show.
  std::string pass(std::string_view piece);

 private:
  // Where in a code (ECMA-48) the next byte stands.
  enum class State : std::uint8_t { text, after_escape, sequence, string, string_escape };

  void take(char byte, std::string& output);
  void end_code(bool is_colour, std::string& output);

  EscapeCodes kept_;
  State state_ = State::text;
  std::string code_;  // so far
};

}  // namespace ingot::image
