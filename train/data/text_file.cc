#include "train/data/text_file.h"

#include <cstdint>
#include <cstring>

#include "base/utf8.h"
#include "model/files/quoted.h"

namespace ingot {

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    // Most bytes of most texts are ASCII: eight at a time.
    std::uint64_t eight = 0;
    if (text.size() - position >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + position, sizeof(eight));
      if ((eight & 0x8080808080808080u) == 0) {
        position += sizeof(eight);
        continue;
      }
    }
    const DecodedCharacter character = decode_utf8(text, position);
    if (!character.is_valid) return position;
    position += character.size;
  }
  return position;
}

Result<TextFile> TextFile::open(const std::string& path) {
  MappedFile file = TRY(MappedFile::open(path));
  const std::size_t invalid = find_invalid_utf8(file.text());
  if (invalid < file.text().size()) {
    return Error::of(ErrorCode::corrupt, Quoted{path}, ": expected UTF-8 text, found the byte ",
                     Quoted{file.text().substr(invalid, 1)}, " at offset ", invalid);
  }
  return TextFile(path, std::move(file));
}

}  // namespace ingot
