#include "model/files/gguf_writer.h"

#include <bit>
#include <set>

#include "model/files/ggml_types.h"
#include "model/files/gguf.h"
#include "model/files/quoted.h"

namespace ingot {

namespace {

constexpr std::uint32_t written_version = 3;

class HeaderBytes {
 public:
  template <class Number>
  void number(Number value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  void bytes(std::span<const std::byte> added) { bytes_.insert(bytes_.end(), added.begin(), added.end()); }
  void text(std::string_view added) {
    number(static_cast<std::uint64_t>(added.size()));
    bytes(std::as_bytes(std::span(added)));
  }
  std::span<const std::byte> all() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

void append_value(HeaderBytes& header, const MetadataValue& value) {
  if (value.is_list) {
    header.number(gguf_list_kind);
    header.number(static_cast<std::uint32_t>(value.kind));
    header.number(static_cast<std::uint64_t>(value.size()));
    if (value.kind == ValueKind::text) {
      for (std::string_view text : *value.texts) header.text(text);
    } else {
      header.bytes(value.bytes);
    }
    return;
  }
  header.number(static_cast<std::uint32_t>(value.kind));
  if (value.kind == ValueKind::text) {
    header.text(value.text());
  } else {
    header.bytes(value.bytes);
  }
}

Result<std::uint32_t> alignment_of(const Metadata& metadata) {
  const MetadataValue* value = metadata.find(gguf_alignment_key);
  if (value == nullptr) return gguf_default_alignment;
  const std::int64_t alignment = TRY(metadata.integer(gguf_alignment_key));
  if (value->kind != ValueKind::u32 || !std::has_single_bit(static_cast<std::uint64_t>(alignment))) {
    return Error::of(ErrorCode::invalid_argument, gguf_alignment_key, ": expected a power of two as u32, found ",
                     alignment, " as ", name_of(value->kind));
  }
  return static_cast<std::uint32_t>(alignment);
}

Result<std::uint64_t> append_tensor(HeaderBytes& header, const TensorToWrite& tensor, std::uint64_t offset) {
  const GgmlType* type = find_ggml_type(tensor.dtype);
  if (type == nullptr) {
    return Error::of(ErrorCode::unsupported, "expected a type that GGUF can store, found ", tensor.dtype);
  }
  if (tensor.name.size() > gguf_longest_tensor_name) {
    return Error::of(ErrorCode::invalid_argument, "expected a name of at most ", gguf_longest_tensor_name,
                     " bytes, found ", tensor.name.size());
  }
  const auto rank = static_cast<std::uint32_t>(tensor.shape.rank());
  if (rank > gguf_most_dimensions) {
    return Error::of(ErrorCode::invalid_argument, "expected at most ", gguf_most_dimensions, " dimensions, found ",
                     tensor.shape);
  }
  const std::uint64_t byte_count = TRY(packed_byte_count(tensor.shape, type->block_elements, type->block_bytes));
  header.text(tensor.name);
  header.number(rank);
  for (int axis = tensor.shape.rank() - 1; axis >= 0; --axis) header.number(tensor.shape[axis]);
  header.number(type->number);
  header.number(offset);
  return byte_count;
}

}  // namespace

Result<void> write_gguf(const std::string& path, const Metadata& metadata, std::span<const TensorToWrite> tensors) {
  const std::uint32_t alignment = TRY(alignment_of(metadata));
  HeaderBytes header;
  header.bytes(std::as_bytes(std::span(gguf_magic)));
  header.number(written_version);
  header.number(static_cast<std::uint64_t>(tensors.size()));
  header.number(static_cast<std::uint64_t>(metadata.entries().size()));
  for (const Metadata::Entry& entry : metadata.entries()) {
    if (entry.key.empty())
      return Error::of(ErrorCode::invalid_argument, "metadata: expected a key, found an empty one");
    header.text(entry.key);
    append_value(header, entry.value);
  }

  std::set<std::string_view> names;
  std::vector<std::uint64_t> byte_counts;
  std::uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      return Error::of(ErrorCode::invalid_argument, "expected every tensor name once, found ", Quoted{tensor.name},
                       " again");
    }
    Result<std::uint64_t> byte_count = append_tensor(header, tensor, offset);
    if (!byte_count.ok()) return byte_count.error().within("tensor ", Quoted{tensor.name});
    byte_counts.push_back(byte_count.value());
    offset += align_up(byte_count.value(), alignment);
  }

  ReplacedFile file = TRY(ReplacedFile::create(path));
  TRY(file.write(header.all()));
  if (!tensors.empty()) TRY(file.write_zeros(align_up(header.all().size(), alignment) - header.all().size()));
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    TRY(write_tensor_data(file, tensors[index], byte_counts[index]));
    TRY(file.write_zeros(align_up(byte_counts[index], alignment) - byte_counts[index]));
  }
  return file.commit();
}

}  // namespace ingot
