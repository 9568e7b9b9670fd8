#include "image/tar_writer.h"

#include <array>

namespace ingot::image {

namespace {

constexpr std::size_t longest_tar_name = 100;                               // of a path, and of a link's target
constexpr std::uint64_t largest_octal_size = (std::uint64_t{1} << 33) - 1;  // eleven octal digits
constexpr std::array<char, 2 * tar_block_bytes> zero_blocks{};

// Octal digits that fill the field but for the zero that ends it.
std::string octal_field(std::uint64_t number, std::size_t field_bytes) {
  std::string digits(field_bytes, '\0');
  for (std::size_t i = field_bytes - 1; i-- > 0; number >>= 3) digits[i] = static_cast<char>('0' + (number & 7));
  return digits;
}

std::string text_to_field(std::string_view letters, std::size_t field_bytes) {
  std::string field(letters.substr(0, field_bytes));
  field.resize(field_bytes);
  return field;
}

std::string header_block(std::string_view path, char type, std::string_view target, std::uint32_t mode,
                         std::uint64_t bytes) {
  constexpr std::string_view magic_and_version("ustar\00000", 8), sum_in_blanks = "        ";
  std::string header = text_to_field(path, longest_tar_name);
  header += octal_field(mode & 07777, 8) + octal_field(0, 8) + octal_field(0, 8);  // and the owner's numbers
  header += octal_field(bytes, 12) + octal_field(0, 12);                           // and the time
  const std::size_t sum_at = header.size();
  header += sum_in_blanks;
  header += type + text_to_field(target, longest_tar_name);
  header += magic_and_version;
  header.resize(tar_block_bytes);  // no names of owners, no numbers of devices, no prefix
  std::uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  header.replace(sum_at, 7, octal_field(sum, 7));  // six digits and a zero; the blank behind it stays
  return header;
}

// "LENGTH KEY=VALUE\n", LENGTH with its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::string rest = ' ' + std::string(key) + '=' + std::string(value) + '\n';
  std::size_t length = rest.size();
  while (std::to_string(length).size() + rest.size() != length) length = std::to_string(length).size() + rest.size();
  return std::to_string(length) + rest;
}

char type_letter(TarEntry::Kind kind) {
  switch (kind) {
    case TarEntry::Kind::file: return '0';
    case TarEntry::Kind::hard_link: return '1';
    case TarEntry::Kind::symbolic_link: return '2';
    case TarEntry::Kind::directory: return '5';
    case TarEntry::Kind::device: break;
  }
  return '0';
}

}  // namespace

std::string_view tar_padding(std::uint64_t bytes) {
  return {zero_blocks.data(), static_cast<std::size_t>((tar_block_bytes - bytes % tar_block_bytes) % tar_block_bytes)};
}

std::string_view tar_end() { return {zero_blocks.data(), zero_blocks.size()}; }

std::string tar_header(const TarEntry& entry, std::uint64_t bytes) {
  std::string records, header;
  if (entry.path.size() > longest_tar_name) records += pax_record("path", entry.path);
  if (entry.target.size() > longest_tar_name) records += pax_record("linkpath", entry.target);
  if (bytes > largest_octal_size) records += pax_record("size", std::to_string(bytes));
  if (!records.empty()) {
    header = header_block("pax_header", 'x', {}, 0644, records.size()) + records;
    header += tar_padding(records.size());
  }
  // A size that does not fit is 0 here: who knows no pax headers finds no header behind this one, and stops.
  return header + header_block(entry.path, type_letter(entry.kind), entry.target, entry.mode,
                               bytes > largest_octal_size ? 0 : bytes);
}

Result<void> write_tar_entry(const TarEntry& entry, const WriteBytes& write) {
  TRY(write(tar_header(entry, entry.content.size())));
  TRY(entry.content.each_piece(write));
  return write(tar_padding(entry.content.size()));
}

std::uint64_t tar_entry_bytes(const TarEntry& entry) {
  const std::uint64_t bytes = entry.content.size();
  return tar_header(entry, bytes).size() + bytes + tar_padding(bytes).size();
}

std::vector<TarEntry> tar_entries_of(const FileTree& root) {
  std::vector<TarEntry> entries;
  for (const auto& [path, node] : root.nodes()) {
    TarEntry entry;
    entry.path = path.substr(1);
    entry.mode = node.mode;
    switch (node.kind) {
      case FileNode::Kind::file: entry.content = node.content; break;
      case FileNode::Kind::directory:
        entry.kind = TarEntry::Kind::directory;
        entry.path += '/';
        break;
      case FileNode::Kind::symbolic_link:
        entry.kind = TarEntry::Kind::symbolic_link;
        entry.target = node.target;
        break;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace ingot::image
