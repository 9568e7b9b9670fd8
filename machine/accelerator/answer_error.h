// What a worker refused something for, as an error of this process.
#pragma once

#include <algorithm>
#include <string>

#include "base/accelerator/layout.h"
#include "base/result.h"

namespace ingot {

// Words of somebody who is not trusted: no more of them than there are, none that a terminal would obey, and none that
// is no text.
template <class AnyAnswer>
std::string harmless_text(const AnyAnswer& answer) {
  std::string text(answer.text.data(), std::min<std::size_t>(answer.text_length, answer.text.size()));
  std::ranges::replace_if(text, [](unsigned char letter) { return letter < ' ' || letter >= 0x7f; }, '?');
  return text;
}

template <class AnyAnswer>
Error error_of(const AnyAnswer& answer) {
  const auto most = static_cast<std::uint32_t>(ErrorCode::would_block);
  return Error::of(answer.code <= most ? static_cast<ErrorCode>(answer.code) : ErrorCode::corrupt,
                   std::string_view(harmless_text(answer)));
}

}  // namespace ingot
