// TextWriter: text of any length on a heap, for files whose content is made up when they are opened.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "os/memory/allocator.h"
#include "os/syscall/errno.h"

namespace ingot::os {

struct HexadecimalDigits {
  std::uint64_t value = 0;
  int digits = 1;  // at least
};

class TextWriter {
 public:
  explicit TextWriter(Allocator& heap) : heap_(heap) {}
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  ~TextWriter();

  // Without memory the text ends where it is, and finish() says so.
  template <class... Parts>
  void add(const Parts&... parts) {
    (append(parts), ...);
  }
  Answer<std::string_view> finish() const;

 private:
  void append(std::string_view text);
  void append(const char* text) { append(std::string_view(text)); }
  void append(char letter) { append(std::string_view(&letter, 1)); }
  void append(HexadecimalDigits number);
  void append_number(std::uint64_t number);
  template <std::integral Integer>
    requires(!std::same_as<Integer, char> && !std::same_as<Integer, bool>)
  void append(Integer number) {
    if (number < 0) append('-');
    append_number(number < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(number)
                             : static_cast<std::uint64_t>(number));
  }

  Allocator& heap_;
  char* text_ = nullptr;
  std::size_t room_ = 0, used_ = 0;
  bool failed_ = false;
};

}  // namespace ingot::os
