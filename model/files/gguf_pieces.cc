#include "model/files/gguf_pieces.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>

#include "model/files/quoted.h"

namespace ingot {

namespace {

constexpr std::string_view number_key = "split.no";
constexpr std::string_view tensors_key = "split.tensors.count";
constexpr std::string_view ending = ".gguf";
constexpr std::string_view between = "-of-";
constexpr std::size_t least_digits = 5;
constexpr std::int64_t most_pieces = 65535;  // as split.count is stored in 16 bits

std::string digits_of(std::uint32_t number) {
  const std::string text = std::to_string(number);
  return std::string(text.size() < least_digits ? least_digits - text.size() : 0, '0') + text;
}

// Takes a number of at least five digits off the end, written as digits_of() writes it.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  const std::size_t begin = text.find_last_not_of("0123456789") + 1;
  const std::string_view digits = text.substr(begin);
  std::uint32_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc() || digits != digits_of(number)) return std::nullopt;
  text.remove_suffix(digits.size());
  return number;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

struct SplitKeys {
  std::int64_t number = 0;  // from 0
  std::int64_t count = 1;
  std::int64_t tensors = 0;
};

Result<bool> is_piece(const GgufFile& file) { return TRY(file.metadata().integer_or(gguf_split_count_key, 1)) > 1; }

Result<SplitKeys> split_keys_of(const GgufFile& file) {
  SplitKeys keys;
  keys.number = TRY(file.metadata().integer(number_key));
  keys.count = TRY(file.metadata().integer(gguf_split_count_key));
  keys.tensors = TRY(file.metadata().integer(tensors_key));
  if (keys.count > most_pieces) {
    return Error::of(ErrorCode::corrupt, gguf_split_count_key, ": expected at most ", most_pieces, ", found ",
                     keys.count);
  }
  return keys;
}

// What the name says against what the file says.
Result<GgufPieceName> name_of_piece(const std::string& path, const SplitKeys& keys) {
  std::optional<GgufPieceName> name = gguf_piece_name(path);
  if (!name) {
    return Error::of(ErrorCode::unsupported, "expected a name such as model-00001-of-", std::string_view(digits_of(1)),
                     ".gguf of one of ", keys.count, " pieces (", gguf_split_count_key,
                     "), found another: the others are found by their names, so give back its own");
  }
  if (name->count != keys.count) {
    return Error::of(ErrorCode::corrupt, gguf_split_count_key, ": expected ", name->count, " as in its name, found ",
                     keys.count);
  }
  if (keys.number != std::int64_t{name->number} - 1) {
    return Error::of(ErrorCode::corrupt, number_key, ": expected ", name->number - 1,
                     " (one less than in its name), found ", keys.number, ": was the file renamed?");
  }
  return std::move(*name);
}

// All that are not there are told at once, so that they can be fetched at once.
Result<void> require_all_there(const GgufPieceName& name) {
  std::uint32_t missing = 0;
  std::string names;
  constexpr std::uint32_t most_named = 3;
  for (std::uint32_t piece = 1; piece <= name.count; ++piece) {
    const std::string path = name.path_of(piece);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) || ++missing > most_named) continue;
    names += (names.empty() ? "" : ", ") + file_name(path);
  }
  if (missing == 0) return {};
  if (missing > most_named) names += ", ...";
  return Error::of(ErrorCode::not_found, "expected all ", name.count, " pieces of the model in one folder, found ",
                   name.count - missing, ": missing ", std::string_view(names));
}

// Keys that a later piece has as well are the same; one of another model would bring other weights in silence.
Result<void> require_same_model(const GgufFile& first, const GgufFile& other, const SplitKeys& keys,
                                const std::string& given, std::uint32_t number) {
  if (!TRY(is_piece(other))) {
    return Error::of(ErrorCode::corrupt, gguf_split_count_key, ": expected ", keys.count,
                     " as in the first piece, found a file that is no piece");
  }
  const SplitKeys found = TRY(split_keys_of(other));
  const auto differs = [&given](std::string_view key, std::int64_t expected, std::int64_t is) {
    return Error::of(ErrorCode::corrupt, key, ": expected ", expected, ", found ", is,
                     ": it is another piece, or not of the model of ", Quoted{file_name(given)});
  };
  if (found.count != keys.count) return differs(gguf_split_count_key, keys.count, found.count);
  if (found.number != std::int64_t{number} - 1) return differs(number_key, std::int64_t{number} - 1, found.number);
  if (found.tensors != keys.tensors) return differs(tensors_key, keys.tensors, found.tensors);
  for (const Metadata::Entry& entry : other.metadata().entries()) {
    if (entry.key.starts_with("split.") || entry.key == gguf_alignment_key) continue;
    const MetadataValue* value = first.metadata().find(entry.key);
    if (value == nullptr || *value == entry.value) continue;
    return Error::of(ErrorCode::corrupt, "expected the same ", Quoted{entry.key},
                     " as in the first piece, found another: it is another model's");
  }
  return {};
}

Result<void> require_data(const GgufFile& file) {
  if (file.has_data()) return {};
  return Error::of(ErrorCode::corrupt, "expected data of ", file.records().size(),
                   " tensors, found that the file ends before them: fetch it again");
}

Result<void> require_each_tensor_once(const GgufPieceName& name, std::int64_t expected,
                                      std::span<const GgufFile> pieces) {
  std::map<std::string_view, std::uint32_t> holders;
  for (std::uint32_t piece = 1; piece <= name.count; ++piece) {
    for (const TensorRecord& record : pieces[piece - 1].records()) {
      const auto [holder, is_new] = holders.emplace(record.name, piece);
      if (is_new) continue;
      return Error::of(ErrorCode::corrupt, Quoted{name.path_of(piece)}, ": expected every tensor in one piece, found ",
                       Quoted{record.name}, " in ", Quoted{file_name(name.path_of(holder->second))}, " as well");
    }
  }
  const auto found = static_cast<std::int64_t>(holders.size());
  if (found == expected) return {};
  return Error::of(ErrorCode::corrupt, Quoted{name.path_of(1)}, ": ", tensors_key, ": expected ", expected,
                   " tensors in all ", name.count, " pieces, found ", found);
}

template <class Value>
Result<Value> named(const std::string& path, Result<Value> value) {
  if (!value.ok()) return value.error().within(Quoted{path});
  return value;
}

}  // namespace

std::string GgufPieceName::path_of(std::uint32_t piece) const {
  return before + digits_of(piece) + std::string(between) + digits_of(count) + std::string(ending);
}

std::string GgufPieceName::path_of_whole() const { return before.substr(0, before.size() - 1) + std::string(ending); }

std::optional<GgufPieceName> gguf_piece_name(std::string_view path) {
  if (!path.ends_with(ending)) return std::nullopt;
  path.remove_suffix(ending.size());
  const std::optional<std::uint32_t> count = take_number(path);
  if (!count || !path.ends_with(between)) return std::nullopt;
  path.remove_suffix(between.size());
  const std::optional<std::uint32_t> number = take_number(path);
  if (!number || *number < 1 || *number > *count || !path.ends_with('-')) return std::nullopt;
  return GgufPieceName{std::string(path), *number, *count};
}

Result<std::vector<GgufFile>> open_gguf_pieces(const std::string& path) {
  std::vector<GgufFile> pieces;
  GgufFile given = TRY(GgufFile::open(path));
  if (!TRY(named(path, is_piece(given)))) {
    pieces.push_back(std::move(given));
    return pieces;
  }
  const SplitKeys keys = TRY(named(path, split_keys_of(given)));
  const GgufPieceName name = TRY(named(path, name_of_piece(path, keys)));
  TRY(named(path, require_all_there(name)));
  for (std::uint32_t piece = 1; piece <= name.count; ++piece) {
    const std::string piece_path = name.path_of(piece);
    GgufFile opened = piece == name.number ? std::move(given) : TRY(GgufFile::open(piece_path));
    TRY(named(piece_path, require_same_model(pieces.empty() ? opened : pieces.front(), opened, keys, path, piece)));
    TRY(named(piece_path, require_data(opened)));
    pieces.push_back(std::move(opened));
  }
  TRY(require_each_tensor_once(name, keys.tensors, pieces));
  return pieces;
}

Result<GgufFile> open_first_gguf_piece(const std::string& path) {
  GgufFile given = TRY(GgufFile::open(path));
  if (!TRY(named(path, is_piece(given)))) return given;
  const SplitKeys keys = TRY(named(path, split_keys_of(given)));
  const GgufPieceName name = TRY(named(path, name_of_piece(path, keys)));
  if (name.number == 1) return given;
  const std::string first_path = name.path_of(1);
  GgufFile first = TRY(GgufFile::open(first_path));
  TRY(named(first_path, require_same_model(first, first, keys, path, 1)));
  return first;
}

Result<Metadata> metadata_of_whole(const Metadata& first) {
  Metadata whole;
  for (const Metadata::Entry& entry : first.entries()) {
    if (entry.key == number_key || entry.key == gguf_split_count_key || entry.key == tensors_key) continue;
    TRY(whole.add_view(entry.key, entry.value));
  }
  return whole;
}

}  // namespace ingot
