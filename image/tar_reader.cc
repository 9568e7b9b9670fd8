#include "image/tar_reader.h"

#include "image/bytes.h"

namespace ingot::image {

namespace {

constexpr std::size_t tar_block_bytes = 512;
constexpr std::uint64_t longest_extension = 1 << 20;  // a name or a pax record list

std::string text_field(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

// Octal digits between blanks, or a large number in binary with the highest bit set.
Result<std::uint64_t> number_field(std::string_view field) {
  std::uint64_t number = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      const auto byte = static_cast<unsigned char>(field[i]) & (i == 0 ? 0x7f : 0xff);
      if (number >> 55 != 0) return Error::of(ErrorCode::corrupt, "tar: expected a number below 2^63, found a larger");
      number = number << 8 | static_cast<unsigned>(byte);
    }
    return number;
  }
  bool ended = false;
  for (const char letter : field) {
    if (letter == '\0' || letter == ' ') {
      ended = number != 0 || ended;
      continue;
    }
    if (letter < '0' || letter > '7' || ended) {
      return Error::of(ErrorCode::corrupt, "tar: expected an octal number, found '", field, "'");
    }
    number = number << 3 | static_cast<unsigned>(letter - '0');
  }
  return number;
}

Result<void> check_sum(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  }
  const std::uint64_t expected = TRY(number_field(header.substr(148, 8)));
  if (sum == expected) return {};
  return Error::of(ErrorCode::corrupt, "tar: expected a header whose sum is ", expected, ", found ", sum);
}

// What pax and GNU headers say about the entry behind them.
struct Extension {
  std::optional<std::string> path, target;
  std::optional<std::uint64_t> bytes;
};

// "LENGTH KEY=VALUE\n" again and again, LENGTH with its own digits.
Result<void> read_pax(std::string_view records, Extension& extension) {
  while (!records.empty()) {
    std::uint64_t length = 0;
    std::size_t at = 0;
    for (; at < records.size() && at < 8 && records[at] >= '0' && records[at] <= '9'; ++at) {
      length = length * 10 + static_cast<unsigned>(records[at] - '0');
    }
    const std::string_view record = records.substr(0, length);
    const std::size_t equals = record.find('=', at);
    if (record.size() != length || at + 1 >= record.size() || record[at] != ' ' || record.back() != '\n' ||
        equals == std::string_view::npos) {
      return Error::of(ErrorCode::corrupt, "tar: expected pax records 'LENGTH KEY=VALUE', found '",
                       shortened(records.substr(0, 40)), "'");
    }
    const std::string_view key = record.substr(at + 1, equals - at - 1);
    const std::string value(record.substr(equals + 1, record.size() - equals - 2));
    if (key == "path") extension.path = value;
    if (key == "linkpath") extension.target = value;
    if (key == "size") {
      std::uint64_t bytes = 0;
      for (const char letter : value) {
        if (letter < '0' || letter > '9' || bytes > (~std::uint64_t{0} >> 1) / 10 - 1) {
          return Error::of(ErrorCode::corrupt, "tar: expected a size, found '", shortened(value), "'");
        }
        bytes = bytes * 10 + static_cast<unsigned>(letter - '0');
      }
      extension.bytes = bytes;
    }
    records.remove_prefix(length);
  }
  return {};
}

TarEntry::Kind kind_of(char type) {
  switch (type) {
    case '0':
    case '7':
    case '\0': return TarEntry::Kind::file;
    case '1': return TarEntry::Kind::hard_link;
    case '2': return TarEntry::Kind::symbolic_link;
    case '5': return TarEntry::Kind::directory;
    default: return TarEntry::Kind::other;
  }
}

std::string path_of(std::string_view header) {
  const std::string name = text_field(header.substr(0, 100)), prefix = text_field(header.substr(345, 155));
  const bool is_ustar = header.substr(257, 6) == std::string_view("ustar\0", 6);
  return is_ustar && !prefix.empty() ? prefix + '/' + name : name;
}

}  // namespace

Result<std::vector<TarEntry>> read_tar(const Content& archive) {
  std::vector<TarEntry> entries;
  Extension extension;
  for (std::uint64_t at = 0; at + tar_block_bytes <= archive.size();) {
    const Content block = TRY(archive.part(at, tar_block_bytes));
    const std::string header = TRY(block.read(tar_block_bytes));
    if (header.find_first_not_of('\0') == std::string::npos) return entries;
    TRY(check_sum(header));
    at += tar_block_bytes;
    const char type = header[156];
    const TarEntry::Kind kind = kind_of(type);
    const bool has_content = kind == TarEntry::Kind::file || kind == TarEntry::Kind::other;
    std::uint64_t bytes = TRY(number_field(std::string_view(header).substr(124, 12)));
    if (extension.bytes && has_content) bytes = *extension.bytes;
    if (!has_content) bytes = 0;
    const Result<Content> content = archive.part(at, bytes);
    if (!content.ok()) return content.error().within("tar: '", shortened(path_of(header)), "'");
    at += (bytes + tar_block_bytes - 1) & ~(tar_block_bytes - 1);
    if (type == 'x' || type == 'L' || type == 'K') {
      const std::string text = TRY(content.value().read(longest_extension));
      if (type == 'x') TRY(read_pax(text, extension));
      if (type == 'L') extension.path = text_field(text);
      if (type == 'K') extension.target = text_field(text);
      continue;
    }
    if (type == 'g') continue;  // for all entries: nothing in it concerns us
    TarEntry entry;
    entry.kind = kind;
    entry.path = extension.path.value_or(path_of(header));
    entry.target = extension.target.value_or(text_field(std::string_view(header).substr(157, 100)));
    entry.mode = static_cast<std::uint32_t>(TRY(number_field(std::string_view(header).substr(100, 8)))) & 07777;
    if (kind == TarEntry::Kind::file) entry.content = content.value();
    entries.push_back(std::move(entry));
    extension = {};
  }
  return entries;
}

}  // namespace ingot::image
