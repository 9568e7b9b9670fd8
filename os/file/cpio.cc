#include "os/file/cpio.h"

namespace ingot::os {

namespace {

using Field = CpioEntry::Field;
constexpr std::string_view magic = "070701", trailer = "TRAILER!!!";
constexpr std::size_t field_letters = 8, header_bytes = magic.size() + Field::count * field_letters;

Result<std::uint32_t> parse_hexadecimal(std::string_view text) {
  std::uint32_t number = 0;
  for (const char letter : text) {
    const char lower = static_cast<char>(letter | 0x20);
    const bool decimal = letter >= '0' && letter <= '9';
    if (!decimal && (lower < 'a' || lower > 'f')) {
      return Error::of(ErrorCode::corrupt, "expected hexadecimal digits in an initramfs header, found '", text, "'");
    }
    number = number << 4 | static_cast<std::uint32_t>(decimal ? letter - '0' : lower - 'a' + 10);
  }
  return number;
}

constexpr std::uint64_t to_4_bytes(std::uint64_t position) { return (position + 3) & ~std::uint64_t{3}; }

constexpr std::string_view without_front(std::string_view path) {
  while (path.starts_with('/') || path.starts_with("./")) path.remove_prefix(1);
  return path == "." ? "" : path;
}

bool same_file(const CpioEntry& left, const CpioEntry& right) {
  const auto same = [&](Field field) { return left.fields[field] == right.fields[field]; };
  return left.fields[Field::links] > 1 && same(Field::inode) && same(Field::major) && same(Field::minor);
}

}  // namespace

Result<std::optional<CpioEntry>> CpioReader::next() {
  for (CpioEntry entry;;) {
    while (between_archives_ && offset_ < bytes_.size() && bytes_[offset_] == std::byte{0}) ++offset_;
    if (between_archives_ && offset_ == bytes_.size()) return std::optional<CpioEntry>();
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + offset_, bytes_.size() - offset_);
    if (rest.size() < header_bytes || !rest.starts_with(magic)) {
      return Error::of(ErrorCode::corrupt, "expected an initramfs header at ", offset_, ", found no 070701 or the end");
    }
    for (std::size_t field = 0; field < Field::count; ++field) {
      entry.fields[field] = TRY(parse_hexadecimal(rest.substr(magic.size() + field * field_letters, field_letters)));
    }
    const std::uint64_t path_size = entry.fields[Field::path_bytes], size = entry.fields[Field::bytes];
    const std::uint64_t content = to_4_bytes(offset_ + header_bytes + path_size);  // 64 bits: the sum cannot wrap
    if (path_size == 0 || content > bytes_.size() || size > bytes_.size() - content) {
      return Error::of(ErrorCode::corrupt, "expected a path of ", path_size, " and a content of ", size,
                       " bytes for the initramfs entry at ", offset_, ", found the end at ", bytes_.size());
    }
    // Further zeros move the content to where its writer wants it.
    const std::string_view path = rest.substr(header_bytes, path_size);
    entry.path = path.substr(0, path.find('\0'));
    if (entry.path.size() == path_size || path.find_first_not_of('\0', entry.path.size()) != std::string_view::npos) {
      return Error::of(ErrorCode::corrupt, "expected a path that zeros end at ", offset_,
                       ", found none, or more letters");
    }
    entry.content = bytes_.subspan(content, size);
    const std::uint64_t end = to_4_bytes(content + size);
    offset_ = end < bytes_.size() ? end : bytes_.size();  // the last one's padding may be missing
    between_archives_ = entry.path == trailer;
    if (!between_archives_) return std::optional(entry);
  }
}

bool is_cpio(std::span<const std::byte> bytes) {
  return bytes.size() >= magic.size() && __builtin_memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Result<CpioEntry> find_in_cpio(std::span<const std::byte> archives, std::string_view path) {
  std::optional<CpioEntry> found;
  CpioReader reader(archives);
  while (const std::optional<CpioEntry> entry = TRY(reader.next())) {
    if (without_front(entry->path) == without_front(path)) {
      found = entry;
    } else if (found && found->content.empty() && same_file(*found, *entry)) {
      found->content = entry->content;
    }
  }
  if (found) return *found;
  return Error::of(ErrorCode::not_found, "expected '", path, "' in the initramfs, found no such path");
}

}  // namespace ingot::os
