// Numbers as text and back, without a locale and without a loss: what a record says is what the run had.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot {

// The shortest text that reads back as the same number.
inline std::string exact_text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

inline std::string hexadecimal_text(std::uint64_t value) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value, 16).ptr};
}

// None unless the whole text is one finite number.
inline std::optional<double> number_from(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// None unless the whole text is one integer of this type.
template <class Integer>
std::optional<Integer> integer_from(std::string_view text, int base = 10) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace ingot
