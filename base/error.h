// What went wrong, as a value. An error's text says what was expected, what was found, and where.
#pragma once

#include "base/text.h"

namespace ingot {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // a constraint of a contract does not hold
  out_of_range,      // an index or offset lies outside its object
  overflow,          // a size does not fit its type
  unsupported,       // understood, and not available here
  not_found,         // a name nobody knows
  out_of_memory,
  input_output,  // the operating system refused
  corrupt,       // data contradicts itself
  denied,        // a right is missing
  would_block,   // not yet: asked again later, it may be answered
};

constexpr std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::out_of_range: return "out of range";
    case ErrorCode::overflow: return "overflow";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::not_found: return "not found";
    case ErrorCode::out_of_memory: return "out of memory";
    case ErrorCode::input_output: return "input/output error";
    case ErrorCode::corrupt: return "corrupt data";
    case ErrorCode::denied: return "denied";
    case ErrorCode::would_block: return "would block";
  }
  return "unknown error";
}

class Error {
 public:
  static constexpr std::size_t text_capacity = 380;

  template <class... Parts>
  [[gnu::noinline, gnu::cold]] static constexpr Error of(ErrorCode code, const Parts&... parts) {
    Error error(code);
    error.text_.append_all(parts...);
    return error;
  }

  constexpr ErrorCode code() const { return code_; }
  constexpr std::string_view text() const { return text_.view(); }

  // The same error seen from a caller that knows more: "while loading x.gguf: ...".
  template <class... Parts>
  constexpr Error within(const Parts&... context) const {
    Error error(code_);
    error.text_.append_all(context..., ": ", text_.view());
    return error;
  }

 private:
  constexpr explicit Error(ErrorCode code) : code_(code) {}

  FixedText<text_capacity> text_;
  ErrorCode code_;
};

}  // namespace ingot
