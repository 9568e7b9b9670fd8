#include "base/image/image_manifest.h"

#include "base/image/image_table.h"

namespace ingot {

namespace {

constexpr std::string_view first_line = "ingot manifest 1";
constexpr std::string_view key_names[manifest_key_count] = {
    "program", "argument", "default-argument", "environment", "directory",      "memory",       "tmpfs",      "file",
    "consume", "grant",    "network",          "trace",       "machine-memory", "machine-cpus", "descriptors"};

// Found texts are cut: one endless line must not push what was expected out of the message.
constexpr std::string_view cut(std::string_view text) { return text.substr(0, 80); }

// substr would bring an exception along, which the kernel has not. Precondition: count <= text.size().
constexpr std::string_view behind(std::string_view text, std::size_t count) {
  text.remove_prefix(count);
  return text;
}

Error wrong(std::size_t line, std::string_view expected, std::string_view found) {
  return Error::of(ErrorCode::corrupt, "manifest, line ", line, ": expected ", expected, ", found '", cut(found), "'");
}

Result<void> check_escapes(std::size_t line, std::string_view value) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\0') return wrong(line, "no zero byte", value.substr(0, i));
    if (value[i] != '\\') continue;
    ++i;
    if (i == value.size() || (value[i] != 'n' && value[i] != '\\')) {
      return wrong(line, "n or a second backslash behind a backslash", behind(value, i - 1));
    }
  }
  return {};
}

Result<std::uint64_t> parse_number(std::size_t line, std::string_view text, unsigned base) {
  const std::string_view expected = base == 8 ? "an octal mode up to 7777" : "a number below 2^63";
  const std::uint64_t limit = base == 8 ? 07777 : ~std::uint64_t{0} >> 1;
  if (text.empty()) return wrong(line, expected, text);
  std::uint64_t number = 0;
  for (const char letter : text) {
    const auto digit = static_cast<unsigned>(letter - '0');
    if (letter < '0' || digit >= base || number > (limit - digit) / base) return wrong(line, expected, text);
    number = number * base + digit;
  }
  return number;
}

// A path in the image's root that means one place: absolute, and without empty names, '.' and '..'.
bool is_plain_path(std::string_view path) {
  if (path == "/") return true;
  if (!path.starts_with('/')) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.empty() || name == "." || name == "..") return false;
    path.remove_prefix(name.size());
  }
  return true;
}

Result<void> check_path(std::size_t line, std::string_view value) {
  if (is_plain_path(value)) return {};
  return wrong(line, "an absolute path without '.', '..' and '//'", value);
}

// The first word of the rest, and one blank behind it, are taken off.
std::string_view take_word(std::string_view& rest) {
  const std::size_t blank = rest.find(' ');
  const std::string_view word = rest.substr(0, blank);
  rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  return word;
}

Result<void> parse_file(std::string_view value, ManifestEntry& entry) {
  const std::uint64_t index = TRY(parse_number(entry.line, take_word(value), 10));
  if (index >= ImageTable::segment_capacity) {
    return Error::of(ErrorCode::out_of_range, "manifest, line ", entry.line, ": expected a segment below ",
                     ImageTable::segment_capacity, ", found ", index);
  }
  entry.index = static_cast<std::uint32_t>(index);
  entry.number = TRY(parse_number(entry.line, take_word(value), 10));
  entry.mode = static_cast<std::uint32_t>(TRY(parse_number(entry.line, take_word(value), 8)));
  entry.text = EscapedText(value);
  return check_path(entry.line, value);
}

Result<void> parse_value(std::string_view value, ManifestEntry& entry) {
  entry.text = EscapedText(value);
  switch (entry.key) {
    case ManifestKey::program:
    case ManifestKey::directory:
    case ManifestKey::consume: return check_path(entry.line, value);
    case ManifestKey::argument:
    case ManifestKey::default_argument:
    case ManifestKey::network: return {};
    case ManifestKey::environment:
      if (value.find('=') == 0 || value.find('=') == std::string_view::npos) {
        return wrong(entry.line, "NAME=VALUE", value);
      }
      return {};
    case ManifestKey::grant:
      if (!is_right(value)) return wrong(entry.line, "a right's name of a-z, 0-9 and '-'", value);
      return {};
    case ManifestKey::trace:
      if (value != "syscalls") return wrong(entry.line, "'syscalls'", value);
      return {};
    case ManifestKey::file: return parse_file(value, entry);
    case ManifestKey::memory:
    case ManifestKey::tmpfs:
    case ManifestKey::machine_memory:
    case ManifestKey::machine_cpus:
    case ManifestKey::descriptors: break;
  }
  entry.text = EscapedText();
  entry.number = TRY(parse_number(entry.line, value, 10));
  const bool counts_files = entry.key == ManifestKey::descriptors;
  if (counts_files && (entry.number < least_descriptors || entry.number > most_descriptors)) {
    return wrong(entry.line, "a number of descriptors from 16 to 1048576", value);
  }
  return {};
}

Result<ManifestKey> find_key(std::size_t line, std::string_view name) {
  for (std::size_t index = 0; index < manifest_key_count; ++index) {
    if (key_names[index] == name) return static_cast<ManifestKey>(index);
  }
  return wrong(line, "a key that this version knows", name);
}

Error twice(const ManifestEntry& entry) {
  return Error::of(ErrorCode::corrupt, "manifest, line ", entry.line, ": expected '", name_of(entry.key),
                   "' once, found it again");
}

// Whether a file before this line has its segment or its path.
Result<void> check_distinct(std::string_view text, const ManifestEntry& file) {
  ManifestReader reader(text);
  while (const auto other = TRY(reader.next())) {
    if (other->line >= file.line) break;
    if (other->key != ManifestKey::file) continue;
    if (other->index == file.index || other->text.spelled() == file.text.spelled()) {
      return Error::of(ErrorCode::corrupt, "manifest, line ", file.line,
                       ": expected a segment and a path of its own, found those of line ", other->line);
    }
  }
  return {};
}

// Behind the first pass, because `consume` may stand before its file.
Result<void> check_consumed(const Manifest& manifest) {
  ManifestReader reader = manifest.entries();
  while (const auto entry = TRY(reader.next())) {
    if (entry->key != ManifestKey::consume) continue;
    bool found = false;
    ManifestReader files = manifest.entries();
    while (const auto file = TRY(files.next())) {
      found = found || (file->key == ManifestKey::file && file->text.spelled() == entry->text.spelled());
    }
    if (!found) return wrong(entry->line, "the path of a 'file' line", entry->text.spelled());
  }
  return {};
}

}  // namespace

std::string_view name_of(ManifestKey key) {
  const auto index = static_cast<std::size_t>(key);
  return index < manifest_key_count ? key_names[index] : "unknown";
}

bool is_right(std::string_view name) {
  for (const char letter : name) {
    if (!(letter >= 'a' && letter <= 'z') && !(letter >= '0' && letter <= '9') && letter != '-') return false;
  }
  return !name.empty();
}

Result<std::optional<ManifestEntry>> ManifestReader::next() {
  for (;;) {
    if (rest_.empty() && line_ > 0) return std::optional<ManifestEntry>();
    ++line_;
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    if (end == std::string_view::npos) return wrong(line_, "a newline at the end of the text", line);
    rest_.remove_prefix(end + 1);
    if (line_ == 1) {
      if (line != first_line) return wrong(line_, "'ingot manifest 1'", line);
      continue;
    }
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return wrong(line_, "a key, a blank and a value", line);
    TRY(check_escapes(line_, line));
    ManifestEntry entry;
    entry.line = line_;
    entry.key = TRY(find_key(line_, line.substr(0, blank)));
    TRY(parse_value(behind(line, blank + 1), entry));
    return std::optional(entry);
  }
}

Result<Manifest> Manifest::parse(std::string_view text) {
  Manifest manifest;
  manifest.text = text;
  std::uint32_t seen = 0;
  std::size_t consumed = 0;
  ManifestReader reader = manifest.entries();
  while (const auto entry = TRY(reader.next())) {
    const std::uint32_t bit = 1u << static_cast<unsigned>(entry->key);
    const bool again = (seen & bit) != 0;
    seen |= bit;
    const auto set_number = [&](std::optional<std::uint64_t>& place) -> Result<void> {
      if (again) return twice(*entry);
      place = entry->number;
      return {};
    };
    switch (entry->key) {
      case ManifestKey::program:
      case ManifestKey::directory:
        if (again) return twice(*entry);
        (entry->key == ManifestKey::program ? manifest.program : manifest.directory) = entry->text;
        break;
      case ManifestKey::argument: ++manifest.arguments; break;
      case ManifestKey::default_argument: ++manifest.default_arguments; break;
      case ManifestKey::environment: ++manifest.environment; break;
      case ManifestKey::memory: TRY(set_number(manifest.memory)); break;
      case ManifestKey::tmpfs: TRY(set_number(manifest.tmpfs)); break;
      case ManifestKey::descriptors: TRY(set_number(manifest.descriptors)); break;
      case ManifestKey::machine_memory: TRY(set_number(manifest.machine_memory)); break;
      case ManifestKey::machine_cpus: TRY(set_number(manifest.machine_cpus)); break;
      case ManifestKey::file:
        TRY(check_distinct(text, *entry));
        ++manifest.files;
        break;
      case ManifestKey::trace: manifest.traces_system_calls = true; break;
      case ManifestKey::consume:
        if (++consumed > ImageTable::segment_capacity) return twice(*entry);
        break;
      case ManifestKey::grant:
      case ManifestKey::network: break;
    }
  }
  if (manifest.program.size() == 0) {
    return Error::of(ErrorCode::corrupt, "manifest: expected a line 'program PATH', found none");
  }
  TRY(check_consumed(manifest));
  return manifest;
}

bool Manifest::grants(std::string_view right) const {
  ManifestReader reader = entries();
  for (;;) {
    const Result<std::optional<ManifestEntry>> next = reader.next();
    if (!next.ok() || !next.value()) return false;
    if (next.value()->key == ManifestKey::grant && next.value()->text == right) return true;
  }
}

bool Manifest::consumes(EscapedText path) const {
  ManifestReader reader = entries();
  for (;;) {
    const Result<std::optional<ManifestEntry>> next = reader.next();
    if (!next.ok() || !next.value()) return false;
    if (next.value()->key == ManifestKey::consume && next.value()->text.spelled() == path.spelled()) return true;
  }
}

std::optional<ManifestEntry> Manifest::file(std::string_view path) const {
  ManifestReader reader = entries();
  for (;;) {
    const Result<std::optional<ManifestEntry>> next = reader.next();
    if (!next.ok() || !next.value()) return {};
    if (next.value()->key == ManifestKey::file && next.value()->text == path) return *next.value();
  }
}

}  // namespace ingot
