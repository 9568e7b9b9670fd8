#include "train/record/configuration_value.h"

namespace ingot {

namespace {

// The text in quotes at the start of `value`, which is moved behind them.
std::optional<std::string> take_quoted(std::string_view& value) {
  std::string text;
  for (std::size_t index = 1; index < value.size(); ++index) {
    if (value[index] == '"') {
      value.remove_prefix(index + 1);
      return text;
    }
    if (value[index] == '\\') {
      if (++index == value.size() || (value[index] != '"' && value[index] != '\\')) return std::nullopt;
    }
    text += value[index];
  }
  return std::nullopt;
}

std::string in_quotes(std::string_view text) {
  std::string written = "\"";
  for (char character : text) {
    if (character == '"' || character == '\\') written += '\\';
    written += character;
  }
  return written + "\"";
}

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](char character) {
    const auto code = static_cast<unsigned char>(character);
    return code < 0x20 || code == 0x7f;
  });
}

bool reads_back_bare(std::string_view text) {
  return text.find_first_of("\"#") == std::string_view::npos && trimmed(text) == text;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::string> text_from(std::string_view value) {
  value = trimmed(value);
  if (has_control_characters(value)) return std::nullopt;
  if (!value.starts_with('"')) {
    if (value.find('"') != std::string_view::npos) return std::nullopt;
    return std::string(value);
  }
  std::optional<std::string> text = take_quoted(value);
  return value.empty() ? text : std::nullopt;
}

std::optional<std::vector<std::string>> texts_from(std::string_view value) {
  std::vector<std::string> texts;
  value = trimmed(value);
  if (value.empty()) return texts;
  while (true) {
    value = trimmed(value);
    std::string_view rest = value;
    if (value.starts_with('"')) {
      if (!take_quoted(rest)) return std::nullopt;
    }
    const std::size_t comma = rest.find(',');
    const std::size_t length = comma == std::string_view::npos ? value.size() : value.size() - rest.size() + comma;
    std::optional<std::string> text = text_from(value.substr(0, length));
    if (!text || length == 0) return std::nullopt;
    texts.push_back(std::move(*text));
    if (comma == std::string_view::npos) return texts;
    value.remove_prefix(length + 1);
  }
}

std::string written_text(std::string_view text) { return reads_back_bare(text) ? std::string(text) : in_quotes(text); }

std::string written_list(std::span<const std::string> texts) {
  std::string written;
  for (const std::string& text : texts) {
    const bool is_bare = !text.empty() && reads_back_bare(text) && text.find(',') == std::string::npos;
    written += (written.empty() ? "" : ", ") + (is_bare ? text : in_quotes(text));
  }
  return written;
}

}  // namespace ingot
