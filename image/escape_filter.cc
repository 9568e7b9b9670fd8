#include "image/escape_filter.h"

namespace ingot::image {
namespace {

constexpr char escape = '\x1b', bell = '\a';
constexpr std::size_t longest_code = 4096;  // a title, a link: what is longer is none

// Operating system commands and other strings, which end with a bell or with an escape and a backslash.
bool begins_string(char byte) { return std::string_view("]PX^_").find(byte) != std::string_view::npos; }
bool is_final(char byte) { return byte >= '@' && byte <= '~'; }

}  // namespace

std::string EscapeFilter::pass(std::string_view piece) {
  if (kept_ == EscapeCodes::all) return std::string(piece);
  std::string output;
  output.reserve(piece.size());
  for (const char byte : piece) take(byte, output);
  return output;
}

void EscapeFilter::end_code(bool is_colour, std::string& output) {
  if (kept_ == EscapeCodes::no_colours && !is_colour) output += code_;
  code_.clear();
  state_ = State::text;
}

void EscapeFilter::take(char byte, std::string& output) {
  if (state_ == State::text && byte != escape) {
    output += byte;
    return;
  }
  // A line's end is no part of any code: what stood before it was broken off, and the text goes on.
  if (byte == '\n' || code_.size() >= longest_code) {
    code_.clear();
    state_ = State::text;
    output += byte;
    return;
  }
  code_ += byte;
  switch (state_) {
    case State::text: state_ = State::after_escape; break;
    case State::after_escape:
      if (byte == '[') {
        state_ = State::sequence;
      } else if (begins_string(byte)) {
        state_ = State::string;
      } else if (static_cast<unsigned char>(byte) >= '0') {  // those from ' ' to '/' stand between
        end_code(false, output);
      }
      break;
    case State::sequence:
      if (is_final(byte)) end_code(byte == 'm', output);
      break;
    case State::string:
      if (byte == bell) end_code(false, output);
      if (byte == escape) state_ = State::string_escape;
      break;
    case State::string_escape:
      if (byte == '\\') {
        end_code(false, output);
      } else {
        state_ = State::string;
      }
      break;
  }
}

}  // namespace ingot::image
