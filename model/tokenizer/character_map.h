// SentencePiece's precompiled character map: a Darts double array of byte strings and what each is replaced by.
//
// The blob is the array's size in bytes (u32, little endian), the array (u32 each), then the replacements, each ended
// by a zero byte. An entry of the array holds: the label in bits 0-7, "a value follows" in bit 8, the distance to the
// children in bits 10-30 (times 256 if bit 9 is set); a value's entry has bit 31 set and holds an offset into the
// replacements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ingot {

class CharacterMap {
 public:
  static Result<CharacterMap> create(std::string_view blob);

  // The longest entry at each place is replaced, everything else stays; a byte that is no UTF-8 becomes U+FFFD.
  std::string apply(std::string_view text) const;

 private:
  struct Found {
    std::size_t size = 0;  // 0: nothing
    std::string_view replacement;
  };
  Found longest_at(std::string_view text) const;

  std::vector<std::uint32_t> entries_;
  std::string replacements_;
};

}  // namespace ingot
