// Columns as Linux's tables have them: some programs read them by their place.
#pragma once

#include "base/text.h"
#include "os/file/synthetic/text_writer.h"
#include "os/network/address.h"

namespace ingot::os::network {

// What write() adds takes so many letters at least: blanks follow.
template <class Write>
void add_left(TextWriter& text, std::size_t letters, Write&& write) {
  const auto so_far = [&] { return text.finish().ok() ? text.finish().value().size() : 0; };
  const std::size_t end = so_far() + letters;
  write();
  for (std::size_t at = so_far(); at < end; ++at) text.add(' ');
}
// At the right end of so many letters.
inline void add_right(TextWriter& text, std::size_t letters, std::string_view word) {
  for (std::size_t at = word.size(); at < letters; ++at) text.add(' ');
  text.add(word);
}
inline void add_right(TextWriter& text, std::size_t letters, std::uint64_t number) {
  add_right(text, letters, FixedText<20>().append(number).view());
}

inline void add_capitals(TextWriter& text, std::uint64_t value, int digits) {
  while (digits-- > 0) text.add("0123456789ABCDEF"[value >> (4 * digits) & 15]);
}
// As the machine would print it in words of 32 bits, though it lies in the order of the wire.
inline void add_address(TextWriter& text, const IpAddress& address, IpVersion version) {
  for (std::size_t word = version == IpVersion::v4 ? 12 : 0; word < 16; word += 4) {
    std::uint32_t number = 0;
    __builtin_memcpy(&number, address.bytes().data() + word, sizeof number);
    add_capitals(text, number, 8);
  }
}

}  // namespace ingot::os::network
