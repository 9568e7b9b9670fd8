#include "train/data/tokenizer_hash.h"

namespace ingot {

namespace {

// FNV-1a, 64 bits.
class TextHash {
 public:
  void add_number(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<std::uint8_t>(number >> shift));
  }
  // The size first: otherwise "ab", "c" would equal "a", "bc".
  void add(std::string_view text) {
    add_number(text.size());
    for (char character : text) add_byte(static_cast<std::uint8_t>(character));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }

  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace

std::uint64_t tokenizer_hash(const TokenizerDescription& description) {
  TextHash hash;
  hash.add(name_of(description.model));
  hash.add_number(description.tokens.size());
  for (const std::string& token : description.tokens) hash.add(token);
  hash.add_number(description.merges.size());
  for (const Merge& merge : description.merges) {
    hash.add(merge.left);
    hash.add(merge.right);
  }
  return hash.value();
}

}  // namespace ingot
