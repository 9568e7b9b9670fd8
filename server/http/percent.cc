#include "server/http/percent.h"

#include "server/http/letters.h"

namespace ingot::http {
namespace {

int value_of_hexadecimal(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const char small = lower(digit);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? value_of_hexadecimal(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? value_of_hexadecimal(text[at + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return decoded;
}

}  // namespace ingot::http
