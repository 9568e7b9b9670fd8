// What a worker refused something for, as an error of this process.
#pragma once

#include <algorithm>

#include "base/accelerator/layout.h"
#include "base/result.h"

namespace ingot {

// Words of a process that is not trusted: no more of them than there are, and none that a terminal would obey.
template <class AnyAnswer>
Error error_of(const AnyAnswer& answer) {
  auto text = answer.text;
  const std::size_t length = std::min<std::size_t>(answer.text_length, text.size());
  std::replace_if(text.begin(), text.end(), [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, '?');
  const auto most = static_cast<std::uint32_t>(ErrorCode::would_block);
  return Error::of(answer.code <= most ? static_cast<ErrorCode>(answer.code) : ErrorCode::corrupt,
                   std::string_view(text.data(), length));
}

}  // namespace ingot
