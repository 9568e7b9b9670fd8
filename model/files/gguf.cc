#include "model/files/gguf.h"

#include <bit>
#include <set>

#include "model/files/byte_reader.h"
#include "model/files/ggml_types.h"
#include "model/files/quoted.h"

namespace ingot {

namespace {

// What other readers of the format refuse, whatever the file's size.
constexpr std::uint64_t longest_text = std::uint64_t{1} << 30;
constexpr std::uint64_t longest_list = std::uint64_t{1} << 30;

// The least bytes that one entry takes, to refuse counts that the file cannot hold before anything is allocated.
constexpr std::uint64_t least_metadata_bytes = 8 + 1 + 4 + 1;
constexpr std::uint64_t least_tensor_bytes = 8 + 4 + 4 + 8;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::span<const std::byte>> take_text(ByteReader& reader, std::string_view field) {
  const auto length = TRY(reader.take<std::uint64_t>(field));
  if (length > longest_text) {
    return Error::of(ErrorCode::corrupt, field, ": expected a length of at most ", longest_text, ", found ", length);
  }
  return reader.take_bytes(length, field);
}

Result<ValueKind> value_kind(std::uint32_t number) {
  if (number > static_cast<std::uint32_t>(ValueKind::f64) || number == gguf_list_kind) {
    return Error::of(ErrorCode::corrupt, "expected a value kind from 0 to 12 (no list within a list), found ", number);
  }
  return static_cast<ValueKind>(number);
}

Result<MetadataValue> take_list(ByteReader& reader) {
  const auto number = TRY(reader.take<std::uint32_t>("list element kind"));
  const ValueKind kind = TRY(value_kind(number));
  const auto count = TRY(reader.take<std::uint64_t>("list length"));
  if (count > longest_list) {
    return Error::of(ErrorCode::corrupt, "list length: expected at most ", longest_list, ", found ", count);
  }
  if (kind != ValueKind::text) {
    return MetadataValue{kind, true, TRY(reader.take_bytes(count * byte_size(kind), "list elements")), nullptr};
  }
  if (count > reader.remaining() / sizeof(std::uint64_t)) {
    return Error::of(ErrorCode::corrupt, "list length: expected texts that fit the remaining ", reader.remaining(),
                     " bytes, found ", count);
  }
  auto texts = std::make_shared<std::vector<std::string_view>>();
  texts->reserve(count);
  for (std::uint64_t index = 0; index < count; ++index) texts->push_back(text_of(TRY(take_text(reader, "list text"))));
  return MetadataValue{kind, true, {}, std::move(texts)};
}

Result<MetadataValue> take_value(ByteReader& reader) {
  const auto number = TRY(reader.take<std::uint32_t>("value kind"));
  if (number == gguf_list_kind) return take_list(reader);
  const ValueKind kind = TRY(value_kind(number));
  if (kind == ValueKind::text) return MetadataValue{kind, false, TRY(take_text(reader, "text value")), nullptr};
  return MetadataValue{kind, false, TRY(reader.take_bytes(byte_size(kind), "value")), nullptr};
}

Result<Shape> take_shape(ByteReader& reader) {
  const auto rank = TRY(reader.take<std::uint32_t>("dimension count"));
  if (rank > gguf_most_dimensions) {
    return Error::of(ErrorCode::corrupt, "expected at most ", gguf_most_dimensions, " dimensions, found ", rank);
  }
  std::int64_t innermost_first[gguf_most_dimensions];
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    innermost_first[axis] = TRY(reader.take<std::int64_t>("dimension"));
  }
  Shape shape;
  for (std::uint32_t axis = rank; axis > 0; --axis) shape.push_back(innermost_first[axis - 1]);
  return shape;
}

Result<const GgmlType*> take_type(ByteReader& reader) {
  const auto number = TRY(reader.take<std::int32_t>("type"));
  const GgmlType* type = find_ggml_type(number);
  if (type == nullptr) return Error::of(ErrorCode::corrupt, "expected a tensor type of GGUF, found number ", number);
  if (type->block_elements == 0) {
    return Error::of(ErrorCode::corrupt, "expected a tensor type of GGUF, found number ", number, " (", type->name,
                     "), which was removed");
  }
  return type;
}

}  // namespace

// Reads the parts of a file in order into a GgufFile.
class GgufParser {
 public:
  explicit GgufParser(std::span<const std::byte> bytes) : bytes_(bytes), reader_(bytes) {}

  Result<GgufFile> parse() {
    TRY(parse_header());
    TRY(parse_metadata());
    TRY(parse_alignment());
    TRY(parse_tensors());
    TRY(place_data());
    return std::move(file_);
  }

 private:
  Result<void> parse_header() {
    const std::string_view magic = text_of(TRY(reader_.take_bytes(gguf_magic.size(), "GGUF magic")));
    if (magic != gguf_magic) {
      return Error::of(ErrorCode::corrupt, "magic: expected 'GGUF', found ", Quoted{magic});
    }
    const auto version = TRY(reader_.take<std::uint32_t>("GGUF version"));
    if (version != 2 && version != 3) {
      const bool is_swapped = (version & 0xffff) == 0 && version != 0;
      return Error::of(ErrorCode::unsupported, "GGUF version: expected 2 or 3, found ", version,
                       is_swapped ? " (a big-endian file?)" : "");
    }
    file_.version_ = version;
    tensor_count_ = TRY(take_count("tensor count", least_tensor_bytes));
    metadata_count_ = TRY(take_count("metadata count", least_metadata_bytes));
    return {};
  }

  Result<std::uint64_t> take_count(std::string_view field, std::uint64_t least_bytes) {
    const auto count = TRY(reader_.take<std::uint64_t>(field));
    if (count > reader_.remaining() / least_bytes) {
      return Error::of(ErrorCode::corrupt, field, ": expected at most what ", reader_.remaining(),
                       " bytes can hold, found ", count);
    }
    return count;
  }

  Result<void> parse_metadata() {
    for (std::uint64_t index = 0; index < metadata_count_; ++index) {
      Result<std::span<const std::byte>> key = take_text(reader_, "key");
      if (!key.ok()) return key.error().within("metadata entry ", index);
      if (key.value().empty()) {
        return Error::of(ErrorCode::corrupt, "metadata entry ", index, ": expected a key, found an empty text");
      }
      Result<MetadataValue> value = take_value(reader_);
      if (!value.ok()) return value.error().within("metadata ", Quoted{text_of(key.value())});
      TRY(file_.metadata_.add_view(text_of(key.value()), std::move(value).value()));
    }
    return {};
  }

  Result<void> parse_alignment() {
    const MetadataValue* value = file_.metadata_.find(gguf_alignment_key);
    if (value == nullptr) return {};
    if (value->is_list || value->kind != ValueKind::u32) {
      return Error::of(ErrorCode::corrupt, gguf_alignment_key, ": expected u32, found ",
                       value->is_list ? "a list of " : "", name_of(value->kind));
    }
    const auto alignment = static_cast<std::uint32_t>(ScalarList(value->kind, value->bytes).integer(0));
    if (!std::has_single_bit(alignment)) {
      return Error::of(ErrorCode::corrupt, gguf_alignment_key, ": expected a power of two, found ", alignment);
    }
    file_.alignment_ = alignment;
    return {};
  }

  Result<void> parse_tensors() {
    std::set<std::string_view> names;
    for (std::uint64_t index = 0; index < tensor_count_; ++index) {
      Result<std::span<const std::byte>> text = take_text(reader_, "name");
      if (!text.ok()) return text.error().within("tensor ", index);
      const std::string_view name = text_of(text.value());
      if (name.size() > gguf_longest_tensor_name) {
        return Error::of(ErrorCode::corrupt, "tensor ", index, ": expected a name of at most ",
                         gguf_longest_tensor_name, " bytes, found ", name.size());
      }
      if (!names.insert(name).second) {
        return Error::of(ErrorCode::corrupt, "expected every tensor name once, found ", Quoted{name}, " again");
      }
      Result<void> parsed = parse_tensor(name);
      if (!parsed.ok()) return parsed.error().within("tensor ", Quoted{name});
    }
    return {};
  }

  // The offset must be where the tensors before this one end: no overlap, no hole.
  Result<void> parse_tensor(std::string_view name) {
    const Shape shape = TRY(take_shape(reader_));
    const GgmlType* type = TRY(take_type(reader_));
    const std::uint64_t byte_count = TRY(packed_byte_count(shape, type->block_elements, type->block_bytes));
    const auto offset = TRY(reader_.take<std::uint64_t>("offset"));
    if (offset != data_size_) {
      return Error::of(ErrorCode::corrupt, "offset: expected ", data_size_, " (multiples of ", file_.alignment_,
                       " without holes), found ", offset);
    }
    // Sizes stay below 2^56 and the alignment below 2^32, so only the running sum can overflow.
    if (__builtin_add_overflow(data_size_, align_up(byte_count, file_.alignment_), &data_size_)) {
      return Error::of(ErrorCode::overflow, "expected data of all tensors within 64 bits, found more");
    }
    file_.records_.push_back({name, type->name, type->number, type->dtype, shape, byte_count, {}});
    return {};
  }

  Result<void> place_data() {
    if (tensor_count_ == 0) return {};
    const std::uint64_t begin = align_up(reader_.position(), file_.alignment_);
    if (begin > bytes_.size()) {
      return Error::of(ErrorCode::corrupt, "tensor data: expected it to begin at byte ", begin, ", found a file of ",
                       bytes_.size(), " bytes");
    }
    const std::uint64_t available = bytes_.size() - begin;
    file_.has_data_ = available > 0 || data_size_ == 0;
    if (!file_.has_data_) return {};
    if (available < data_size_) {
      return Error::of(ErrorCode::corrupt, "tensor data: expected ", data_size_, " bytes from byte ", begin,
                       " on (padding included), found ", available);
    }
    std::uint64_t offset = begin;
    for (TensorRecord& record : file_.records_) {
      record.bytes = bytes_.subspan(offset, record.byte_count);
      offset += align_up(record.byte_count, file_.alignment_);
    }
    return {};
  }

  std::span<const std::byte> bytes_;
  ByteReader reader_;
  GgufFile file_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t metadata_count_ = 0;
  std::uint64_t data_size_ = 0;
};

Result<GgufFile> GgufFile::parse(std::span<const std::byte> bytes) { return GgufParser(bytes).parse(); }

Result<GgufFile> GgufFile::open(const std::string& path) {
  MappedFile mapped = TRY(MappedFile::open(path));
  Result<GgufFile> parsed = parse(mapped.bytes());
  if (!parsed.ok()) return parsed.error().within(Quoted{path});
  GgufFile file = std::move(parsed).value();
  file.file_ = std::move(mapped);
  return file;
}

}  // namespace ingot
