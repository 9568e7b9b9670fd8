// A place in the text of a regular expression, for those who parse one.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/utf8.h"
#include "model/files/quoted.h"

namespace ingot {

class PatternCursor {
 public:
  explicit PatternCursor(std::string_view text) : text_(text) {}

 protected:
  bool at_end() const { return position_ == text_.size(); }
  bool starts_with(std::string_view prefix) const { return text_.substr(position_).starts_with(prefix); }
  bool take(std::string_view prefix) {
    if (!starts_with(prefix)) return false;
    position_ += prefix.size();
    return true;
  }
  CodePoint take_code() {
    const DecodedCharacter character = decode_utf8(text_, position_);
    position_ += character.size;
    return character.code;
  }
  Error fail(std::string_view expected) const {
    return Error::of(ErrorCode::unsupported, "pattern ", Quoted{text_}, " at byte ", position_, ": expected ", expected,
                     ", found ", Quoted{text_.substr(position_, 12)});
  }

  const std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace ingot
