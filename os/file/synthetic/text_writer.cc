#include "os/file/synthetic/text_writer.h"

#include <algorithm>

namespace ingot::os {

TextWriter::~TextWriter() {
  if (text_ != nullptr) heap_.free(text_, room_, 1);
}

void TextWriter::append(std::string_view text) {
  if (failed_ || text.empty()) return;
  if (text.size() > room_ - used_) {
    const std::size_t wanted = std::max({std::size_t{512}, room_ * 2, used_ + text.size()});
    Result<void*> block = heap_.allocate(wanted, 1);
    failed_ = !block.ok();
    if (failed_) return;
    char* larger = static_cast<char*>(block.value());
    if (text_ != nullptr) {
      __builtin_memcpy(larger, text_, used_);
      heap_.free(text_, room_, 1);
    }
    text_ = larger;
    room_ = wanted;
  }
  __builtin_memcpy(text_ + used_, text.data(), text.size());
  used_ += text.size();
}

void TextWriter::append_number(std::uint64_t number) {
  char digits[20];
  std::size_t first = sizeof(digits);
  do {
    digits[--first] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  append(std::string_view(digits + first, sizeof(digits) - first));
}

void TextWriter::append(HexadecimalDigits number) {
  int digits = 16;
  while (digits > std::max(1, number.digits) && (number.value >> (4 * (digits - 1))) == 0) --digits;
  while (digits-- > 0) append("0123456789abcdef"[(number.value >> (4 * digits)) & 15]);
}

Answer<std::string_view> TextWriter::finish() const {
  if (failed_) return Errno::enomem;
  return std::string_view(text_, used_);
}

}  // namespace ingot::os
