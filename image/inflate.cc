#include "image/inflate.h"

#include <array>

#include "image/bytes.h"

namespace ingot::image {

namespace {

constexpr int longest_code = 15;

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t index = 0; index < 256; ++index) {
    std::uint32_t value = index;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xedb88320 ^ value >> 1 : value >> 1;
    table[index] = value;
  }
  return table;
}();

Error damaged(std::string_view expected) {
  return Error::of(ErrorCode::corrupt, "gzip: expected ", expected, ", found damaged data");
}

// Bits in the order of deflate: the lowest bit of each byte first.
class BitReader {
 public:
  explicit BitReader(std::string_view bytes) : bytes_(bytes) {}

  Result<std::uint32_t> take(int count) {
    while (held_ < count) {
      if (position_ == bytes_.size()) return damaged("more bytes");
      bits_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[position_++])) << held_;
      held_ += 8;
    }
    const auto value = static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << count) - 1));
    bits_ >>= count;
    held_ -= count;
    return value;
  }
  // The first byte that no bit was taken from; bits that were held of it are dropped.
  std::size_t to_byte() {
    position_ -= static_cast<std::size_t>(held_ / 8);
    held_ = 0;
    bits_ = 0;
    return position_;
  }
  void skip(std::size_t count) { position_ += count; }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
  std::uint64_t bits_ = 0;
  int held_ = 0;
};

// A canonical prefix code: how many codes have each length, and the symbols in order of their codes.
class PrefixCode {
 public:
  template <std::size_t Count>
  static Result<PrefixCode> create(const std::array<std::uint8_t, Count>& lengths, std::size_t used) {
    PrefixCode code;
    for (std::size_t symbol = 0; symbol < used; ++symbol) ++code.counts_[lengths[symbol]];
    code.counts_[0] = 0;
    std::array<std::uint16_t, longest_code + 2> next{};
    int left = 1;
    for (std::size_t length = 1; length <= longest_code; ++length) {
      left = 2 * left - code.counts_[length];
      if (left < 0) return damaged("lengths that a prefix code can have");
      next[length + 1] = static_cast<std::uint16_t>(next[length] + code.counts_[length]);
    }
    for (std::size_t symbol = 0; symbol < used; ++symbol) {
      if (lengths[symbol] != 0) code.symbols_[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    }
    return code;
  }

  Result<std::uint32_t> decode(BitReader& bits) const {
    int code = 0, first = 0, index = 0;
    for (std::size_t length = 1; length <= longest_code; ++length) {
      code |= static_cast<int>(TRY(bits.take(1)));
      const int count = counts_[length];
      if (code - first < count) return symbols_[static_cast<std::size_t>(index + code - first)];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return damaged("a known code");
  }

 private:
  std::array<std::uint16_t, longest_code + 1> counts_{};
  std::array<std::uint16_t, 288> symbols_{};
};

struct Codes {
  PrefixCode letters, distances;
};

Result<Codes> fixed_codes() {
  std::array<std::uint8_t, 288> lengths;
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
  }
  std::array<std::uint8_t, 30> distances;
  distances.fill(5);
  return Codes{TRY(PrefixCode::create(lengths, lengths.size())), TRY(PrefixCode::create(distances, distances.size()))};
}

Result<Codes> read_codes(BitReader& bits) {
  static constexpr std::uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  const std::size_t letters = TRY(bits.take(5)) + 257, distances = TRY(bits.take(5)) + 1;
  const std::size_t count = TRY(bits.take(4)) + 4;
  if (letters > 286 || distances > 30) return damaged("at most 286 letters and 30 distances");
  std::array<std::uint8_t, 19> code_lengths{};
  for (std::size_t index = 0; index < count; ++index) {
    code_lengths[order[index]] = static_cast<std::uint8_t>(TRY(bits.take(3)));
  }
  const PrefixCode code = TRY(PrefixCode::create(code_lengths, code_lengths.size()));
  std::array<std::uint8_t, 286 + 30> lengths{};
  for (std::size_t index = 0; index < letters + distances;) {
    const std::uint32_t symbol = TRY(code.decode(bits));
    if (symbol < 16) {
      lengths[index++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && index == 0) return damaged("a length to repeat");
    const std::uint8_t repeated = symbol == 16 ? lengths[index - 1] : std::uint8_t{0};
    const int width = symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
    const std::uint32_t least = symbol == 18 ? 11 : 3;
    const std::uint32_t times = least + TRY(bits.take(width));
    if (times > letters + distances - index) return damaged("no more lengths than codes");
    for (std::uint32_t i = 0; i < times; ++i) lengths[index++] = repeated;
  }
  if (lengths[256] == 0) return damaged("a code for the end of the block");
  std::array<std::uint8_t, 30> distance_lengths{};
  for (std::size_t index = 0; index < distances; ++index) distance_lengths[index] = lengths[letters + index];
  return Codes{TRY(PrefixCode::create(lengths, letters)), TRY(PrefixCode::create(distance_lengths, distances))};
}

class Inflater {
 public:
  Inflater(std::string_view packed, std::string& output, std::uint64_t limit)
      : packed_(packed), bits_(packed), output_(output), begin_(output.size()), limit_(limit) {}

  // How many bytes of the packed ones were read.
  Result<std::size_t> run() {
    for (bool last = false; !last;) {
      last = TRY(bits_.take(1)) == 1;
      const std::uint32_t kind = TRY(bits_.take(2));
      if (kind == 3) return damaged("a block of kind 0, 1 or 2");
      if (kind == 0) {
        TRY(copy_stored());
        continue;
      }
      const Codes codes = kind == 1 ? TRY(fixed_codes()) : TRY(read_codes(bits_));
      TRY(decode_block(codes));
    }
    return bits_.to_byte();
  }

 private:
  Result<void> require_room(std::uint64_t more) const {
    if (output_.size() + more <= limit_) return {};
    return Error::of(ErrorCode::unsupported, "gzip: expected at most ", limit_ >> 20, " MiB unpacked, found more");
  }

  Result<void> copy_stored() {
    const std::size_t at = bits_.to_byte();
    const std::string_view lengths = TRY(part_of(packed_, at, 4, "a stored block's length"));
    const auto length = number_at<std::uint16_t>(lengths, 0);
    if (length != static_cast<std::uint16_t>(~number_at<std::uint16_t>(lengths, 2))) {
      return damaged("a length and its complement");
    }
    TRY(require_room(length));
    output_ += TRY(part_of(packed_, at + 4, length, "a stored block"));
    bits_.skip(4 + std::size_t{length});
    return {};
  }

  Result<void> decode_block(const Codes& codes) {
    for (;;) {
      const std::uint32_t symbol = TRY(codes.letters.decode(bits_));
      if (symbol == 256) return {};
      if (symbol < 256) {
        TRY(require_room(1));
        output_ += static_cast<char>(symbol);
        continue;
      }
      const std::uint32_t length = TRY(read_length(symbol));
      const std::uint32_t distance = TRY(read_distance(codes.distances));
      if (distance > output_.size() - begin_) return damaged("a distance into what is unpacked");
      TRY(require_room(length));
      for (std::uint32_t i = 0; i < length; ++i) output_ += output_[output_.size() - distance];
    }
  }

  // RFC 1951, 3.2.5: groups of four lengths (two distances), each group with one more extra bit than the one before.
  Result<std::uint32_t> read_length(std::uint32_t symbol) {
    const std::uint32_t index = symbol - 257;
    if (index > 28) return damaged("a length's code");
    if (index == 28) return std::uint32_t{258};
    if (index < 8) return index + 3;
    const std::uint32_t width = index / 4 - 1;
    const std::uint32_t extra = TRY(bits_.take(static_cast<int>(width)));
    return 3 + ((4 + index % 4) << width) + extra;
  }
  Result<std::uint32_t> read_distance(const PrefixCode& code) {
    const std::uint32_t index = TRY(code.decode(bits_));
    if (index > 29) return damaged("a distance's code");
    if (index < 4) return index + 1;
    const std::uint32_t width = index / 2 - 1;
    const std::uint32_t extra = TRY(bits_.take(static_cast<int>(width)));
    return 1 + ((2 + index % 2) << width) + extra;
  }

  std::string_view packed_;
  BitReader bits_;
  std::string& output_;
  std::size_t begin_;
  std::uint64_t limit_;
};

// How many bytes a member's header has.
Result<std::size_t> gzip_header_bytes(std::string_view packed) {
  constexpr std::size_t fixed = 10;
  enum Flags { has_sum = 2, has_extra = 4, has_name = 8, has_comment = 16 };
  const std::string_view header = TRY(part_of(packed, 0, fixed, "a gzip header"));
  if (!header.starts_with("\x1f\x8b\x08")) return damaged("the gzip magic and deflate");
  const auto flags = static_cast<unsigned char>(header[3]);
  std::size_t at = fixed;
  if ((flags & has_extra) != 0) {
    const std::string_view length = TRY(part_of(packed, at, 2, "a gzip extra field"));
    at += 2 + std::size_t{number_at<std::uint16_t>(length, 0)};
  }
  for (const int text : {has_name, has_comment}) {
    if ((flags & text) == 0) continue;
    const std::size_t end = packed.find('\0', at);
    if (end == std::string_view::npos) return damaged("a text that a zero ends");
    at = end + 1;
  }
  if ((flags & has_sum) != 0) at += 2;
  if (at > packed.size()) return damaged("a whole header");
  return at;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  std::uint32_t sum = ~before;
  for (const char byte : bytes) sum = crc_table[(sum ^ static_cast<unsigned char>(byte)) & 0xff] ^ sum >> 8;
  return ~sum;
}

Result<std::string> unpack_gzip(std::string_view packed, std::uint64_t limit) {
  std::string output;
  do {
    packed.remove_prefix(TRY(gzip_header_bytes(packed)));
    const std::size_t begin = output.size();
    const std::size_t used = TRY(Inflater(packed, output, limit).run());
    const std::string_view trailer = TRY(part_of(packed, used, 8, "a gzip trailer"));
    const std::string_view member = std::string_view(output).substr(begin);
    if (number_at<std::uint32_t>(trailer, 0) != crc32(member)) return damaged("the content's sum");
    if (number_at<std::uint32_t>(trailer, 4) != static_cast<std::uint32_t>(member.size())) {
      return damaged("the content's length");
    }
    packed.remove_prefix(used + 8);
  } while (!packed.empty());
  return output;
}

}  // namespace ingot::image
