// Text of bounded length, built without a heap: error messages and log lines must be printable
// before there is an allocator and after it has failed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot {

template <std::size_t Capacity>
class FixedText {
 public:
  constexpr FixedText() = default;

  constexpr std::string_view view() const { return {characters_, length_}; }
  constexpr bool truncated() const { return truncated_; }

  // Not inlined, nor numbers: texts are built where nobody hurries, and their code would be most of the OS kernel's.
  [[gnu::noinline]] constexpr FixedText& append(std::string_view part) {
    for (char character : part) append_character(character);
    return *this;
  }
  constexpr FixedText& append(const char* part) { return append(std::string_view(part)); }
  constexpr FixedText& append(bool value) { return append(value ? "true" : "false"); }

  template <std::integral Integer>
    requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>)
  [[gnu::noinline]] constexpr FixedText& append(Integer value) {
    // Work on the unsigned magnitude so that the most negative value needs no special case.
    auto magnitude = static_cast<std::uint64_t>(value);
    if constexpr (std::signed_integral<Integer>) {
      if (value < 0) {
        append_character('-');
        magnitude = std::uint64_t{0} - magnitude;
      }
    }
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + magnitude % 10);
      magnitude /= 10;
    } while (magnitude != 0);
    while (count > 0) append_character(digits[--count]);
    return *this;
  }

  constexpr FixedText& append(char character) {
    append_character(character);
    return *this;
  }

  // Anything that describes itself (a Shape, a DType) appends through its own function.
  template <class Describable>
    requires requires(const Describable& value, FixedText& text) { describe(value, text); }
  constexpr FixedText& append(const Describable& value) {
    describe(value, *this);
    return *this;
  }

  template <class... Parts>
  constexpr FixedText& append_all(const Parts&... parts) {
    (append(parts), ...);
    return *this;
  }

 private:
  constexpr void append_character(char character) {
    if (length_ == Capacity) {
      truncated_ = true;
      return;
    }
    characters_[length_++] = character;
  }

  char characters_[Capacity]{};
  std::uint16_t length_ = 0;
  bool truncated_ = false;
};

template <std::size_t Capacity = 192, class... Parts>
constexpr FixedText<Capacity> text_of(const Parts&... parts) {
  FixedText<Capacity> text;
  text.append_all(parts...);
  return text;
}

}  // namespace ingot
