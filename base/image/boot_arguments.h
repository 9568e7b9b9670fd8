// Arguments for the program on the kernel's command line, which is one text of words apart by blanks: behind a word
// `--`, each word is one argument. Blanks, control characters and '%' are spelled %XX (hexadecimal), and an argument of
// no characters is a lone '%', so that any argument survives loaders that split, join or trim.
//
//   trace=syscalls -- run -p Once%20upon%20a%20time
//
// Monitors that name their devices there write behind what stands already: such a word is no argument, wherever it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace ingot {

// What the kernel keeps of its command line, without a zero at the end.
inline constexpr std::size_t command_line_capacity = 2048;

// What a word begins with that names a device (os/device/virtio/virtio_places.h).
inline constexpr std::string_view device_word = "virtio_mmio.device=";

class EncodedArgument {
 public:
  // Precondition: BootArguments has checked it.
  constexpr explicit EncodedArgument(std::string_view spelled) : spelled_(spelled) {}

  template <class Use>
  constexpr void each(Use&& use) const {
    if (spelled_ == "%") return;
    for (std::size_t i = 0; i < spelled_.size(); ++i) {
      if (spelled_[i] != '%') {
        use(spelled_[i]);
        continue;
      }
      use(static_cast<char>(digit(spelled_[i + 1]) << 4 | digit(spelled_[i + 2])));
      i += 2;
    }
  }
  constexpr std::size_t size() const {
    std::size_t count = 0;
    each([&](char) { ++count; });
    return count;
  }
  // Precondition: size() characters fit. No zero is added.
  constexpr void copy_to(char* place) const {
    each([&](char character) { *place++ = character; });
  }

  static constexpr int digit(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  }

 private:
  std::string_view spelled_;
};

class BootArguments {
 public:
  constexpr explicit BootArguments(std::string_view command_line) : rest_(behind_dashes(command_line)) {}

  // The next argument, or nothing after the last.
  Result<std::optional<EncodedArgument>> next() {
    std::string_view word;
    do {
      while (rest_.starts_with(' ')) rest_.remove_prefix(1);
      if (rest_.empty()) return std::optional<EncodedArgument>();
      word = rest_.substr(0, rest_.find(' '));
      rest_.remove_prefix(word.size());
    } while (word.starts_with(device_word));
    for (std::size_t i = 0; word != "%" && i < word.size(); ++i) {
      if (word[i] != '%') continue;
      const int high = i + 2 < word.size() ? EncodedArgument::digit(word[i + 1]) : -1;
      const int low = i + 2 < word.size() ? EncodedArgument::digit(word[i + 2]) : -1;
      if (high < 0 || low < 0 || (high | low) == 0) {
        return Error::of(ErrorCode::corrupt,
                         "expected two hexadecimal digits behind '%' in an argument, not 00, found '",
                         word.substr(0, 80), "'");
      }
    }
    return std::optional(EncodedArgument(word));
  }

 private:
  static constexpr std::string_view behind_dashes(std::string_view line) {
    while (!line.empty()) {
      const std::size_t blank = line.find(' ');
      const std::string_view word = line.substr(0, blank);
      line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
      if (word == "--") return line;
    }
    return {};
  }

  std::string_view rest_;
};

// The other direction: appends one argument to a text of any kind that grows by a character.
template <class Append>
constexpr void encode_argument(std::string_view argument, Append&& append) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (argument.empty()) append('%');
  bool is_plain = !argument.starts_with(device_word);  // else its first letter is spelled otherwise
  for (const char character : argument) {
    const auto code = static_cast<unsigned char>(character);
    if (std::exchange(is_plain, true) && code > ' ' && code != '%' && code != 0x7f) {
      append(character);
      continue;
    }
    append('%');
    append(digits[code >> 4]);
    append(digits[code & 15]);
  }
}

}  // namespace ingot
