#include "image/tar_reader.h"

#include <algorithm>

#include "image/bytes.h"
#include "image/sha256.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t longest_extension = 1 << 20;  // a name or a pax record list
constexpr std::size_t most_entries = std::size_t{1} << 21;

std::string text_field(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

// Octal digits between blanks, or a large number in binary with the highest bit set.
Result<std::uint64_t> number_field(std::string_view field) {
  std::uint64_t number = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      const auto byte = static_cast<unsigned char>(field[i]) & (i == 0 ? 0x7f : 0xff);
      if (number >> 55 != 0) return Error::of(ErrorCode::corrupt, "expected a number below 2^63, found a larger");
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
      return Error::of(ErrorCode::corrupt, "expected an octal number, found other bytes: is it a tar?");
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
  return Error::of(ErrorCode::corrupt, "expected a header whose sum is ", expected, ", found ", sum);
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
      return Error::of(ErrorCode::corrupt, "expected pax records 'LENGTH KEY=VALUE', found '",
                       shortened(records.substr(0, 40)), "'");
    }
    const std::string_view key = record.substr(at + 1, equals - at - 1);
    const std::string value(record.substr(equals + 1, record.size() - equals - 2));
    if (key.starts_with("GNU.sparse.")) {
      return Error::of(ErrorCode::unsupported, "expected a file with all its bytes, found a sparse one (", key, ")");
    }
    if (key == "path") extension.path = value;
    if (key == "linkpath") extension.target = value;
    if (key == "size") {
      std::uint64_t bytes = 0;
      for (const char letter : value) {
        if (letter < '0' || letter > '9' || bytes > (~std::uint64_t{0} >> 1) / 10 - 1) {
          return Error::of(ErrorCode::corrupt, "expected a size, found '", shortened(value), "'");
        }
        bytes = bytes * 10 + static_cast<unsigned>(letter - '0');
      }
      extension.bytes = bytes;
    }
    records.remove_prefix(length);
  }
  return {};
}

bool is_extension(char type) { return type == 'x' || type == 'L' || type == 'K' || type == 'g'; }

Result<TarEntry::Kind> kind_of(char type) {
  switch (type) {
    case '0':
    case '7':
    case '\0': return TarEntry::Kind::file;
    case '1': return TarEntry::Kind::hard_link;
    case '2': return TarEntry::Kind::symbolic_link;
    case '5': return TarEntry::Kind::directory;
    case '3':
    case '4':
    case '6': return TarEntry::Kind::device;
    // GNU's sparse files among them: leaving one out would be a file that is missing.
    default:
      return Error::of(ErrorCode::unsupported, "expected an entry of a known type, found type ",
                       static_cast<unsigned>(static_cast<unsigned char>(type)));
  }
}

std::string path_of(std::string_view header) {
  const std::string name = text_field(header.substr(0, 100)), prefix = text_field(header.substr(345, 155));
  const bool is_ustar = header.substr(257, 6) == std::string_view("ustar\0", 6);
  return is_ustar && !prefix.empty() ? prefix + '/' + name : name;
}

// Where an archive's bytes come from: they are asked for once, in order.
class TarInput {
 public:
  virtual ~TarInput() = default;
  // The next block into `block`; false at the end. Precondition: the block has its size.
  virtual Result<bool> take_block(std::string& block) = 0;
  virtual Result<Content> take_content(std::uint64_t bytes) = 0;
  virtual Result<void> skip(std::uint64_t bytes) = 0;
};

class ContentInput final : public TarInput {
 public:
  explicit ContentInput(const Content& archive) : archive_(archive) {}

  Result<bool> take_block(std::string& block) override {
    if (at_ == archive_.size()) return false;
    const Content part = TRY(take_content(tar_block_bytes));
    block = TRY(part.read(tar_block_bytes));
    return true;
  }
  Result<Content> take_content(std::uint64_t bytes) override {
    Content part = TRY(archive_.part(at_, bytes));
    at_ += bytes;
    return part;
  }
  Result<void> skip(std::uint64_t bytes) override {
    TRY(take_content(bytes));
    return {};
  }

 private:
  const Content& archive_;
  std::uint64_t at_ = 0;
};

class StreamInput final : public TarInput {
 public:
  explicit StreamInput(ByteStream& archive) : archive_(archive) {}
  StreamInput(ByteStream& archive, const Content& place, std::uint64_t stays_from, const HoldBytes& hold)
      : archive_(archive), place_(&place), hold_(&hold), stays_from_(stays_from) {}

  Result<bool> take_block(std::string& block) override {
    const std::string_view rest = TRY(archive_.rest());
    if (rest.empty()) return false;
    block.clear();
    TRY(take(tar_block_bytes, [&](std::string_view piece) { block += piece; }));
    return true;
  }
  // A header may promise more than there is, so memory is taken as bytes come.
  Result<Content> take_content(std::uint64_t bytes) override {
    if (place_ != nullptr && bytes >= stays_from_) {
      const Content part = TRY(place_->part(at_, bytes));
      Sha256 sum;
      TRY(take(bytes, [&](std::string_view piece) { sum.add(piece); }));
      return part.with_digest(sum.finish());
    }
    if (hold_ != nullptr) TRY((*hold_)(bytes));
    std::string content;
    content.reserve(std::min(bytes, most_bytes_on_trust));
    TRY(take(bytes, [&](std::string_view piece) { content += piece; }));
    content.shrink_to_fit();
    return Content::of_bytes(std::move(content));
  }
  Result<void> skip(std::uint64_t bytes) override {
    return take(bytes, [](std::string_view) {});
  }

 private:
  static constexpr std::uint64_t most_bytes_on_trust = 16 << 20;

  template <class Use>
  Result<void> take(std::uint64_t bytes, const Use& use) {
    for (std::uint64_t left = bytes; left > 0;) {
      const std::string_view rest = TRY(archive_.rest());
      if (rest.empty()) {
        return Error::of(ErrorCode::corrupt, "expected ", bytes, " bytes, found the end after ", bytes - left);
      }
      const std::string_view piece = rest.substr(0, left);
      use(piece);
      archive_.take(piece.size());
      at_ += piece.size();
      left -= piece.size();
    }
    return {};
  }

  StreamPieces archive_;
  const Content* place_ = nullptr;
  const HoldBytes* hold_ = nullptr;
  std::uint64_t stays_from_ = 0, at_ = 0;
};

Result<TarEntry> entry_of(std::string_view header, const Extension& extension) {
  TarEntry entry;
  entry.kind = TRY(kind_of(header[156]));
  entry.path = extension.path.value_or(path_of(header));
  entry.target = extension.target.value_or(text_field(header.substr(157, 100)));
  entry.mode = static_cast<std::uint32_t>(TRY(number_field(header.substr(100, 8)))) & 07777;
  return entry;
}

// What pax and GNU say about the entry behind this header.
Result<void> read_extension(TarInput& input, char type, std::uint64_t bytes, Extension& extension) {
  if (type == 'g') return input.skip(bytes);  // for all entries: nothing in it concerns us
  if (bytes > longest_extension) {
    return Error::of(ErrorCode::unsupported, "expected a name of at most ", longest_extension, " bytes, found ", bytes);
  }
  const Content content = TRY(input.take_content(bytes));
  const std::string text = TRY(content.read(longest_extension));
  if (type == 'x') return read_pax(text, extension);
  (type == 'L' ? extension.path : extension.target) = text_field(text);
  return {};
}

// One header and what stands behind it. False at the archive's end.
Result<bool> read_next(TarInput& input, std::string& header, Extension& extension, std::vector<TarEntry>& entries) {
  const bool is_block = TRY(input.take_block(header));
  if (!is_block || header.find_first_not_of('\0') == std::string::npos) return false;
  TRY(check_sum(header));
  const char type = header[156];
  std::uint64_t bytes = TRY(number_field(std::string_view(header).substr(124, 12)));
  if (is_extension(type)) {
    TRY(read_extension(input, type, bytes, extension));
  } else {
    TarEntry entry = TRY(entry_of(header, extension));
    bytes = entry.kind == TarEntry::Kind::file ? extension.bytes.value_or(bytes) : 0;
    if (bytes != 0) entry.content = TRY(input.take_content(bytes));
    entries.push_back(std::move(entry));
    extension = {};
  }
  TRY(input.skip((tar_block_bytes - bytes % tar_block_bytes) % tar_block_bytes));
  return true;
}

Result<std::vector<TarEntry>> read_entries(TarInput& input) {
  std::vector<TarEntry> entries;
  Extension extension;
  std::string header(tar_block_bytes, '\0');
  for (;;) {
    const Result<bool> next = read_next(input, header, extension, entries);
    if (!next.ok()) return next.error().within("tar, entry ", entries.size() + 1);
    if (!next.value()) return entries;
    if (entries.size() > most_entries) {
      return Error::of(ErrorCode::unsupported, "tar: expected at most ", most_entries, " entries, found more");
    }
  }
}

}  // namespace

Result<std::vector<TarEntry>> read_tar(const Content& archive) {
  ContentInput input(archive);
  return read_entries(input);
}

Result<std::vector<TarEntry>> read_tar(ByteStream& archive) {
  StreamInput input(archive);
  return read_entries(input);
}

Result<std::vector<TarEntry>> read_tar(ByteStream& archive, const Content& place, std::uint64_t stays_from,
                                       const HoldBytes& hold) {
  StreamInput input(archive, place, stays_from, hold);
  return read_entries(input);
}

}  // namespace ingot::image
