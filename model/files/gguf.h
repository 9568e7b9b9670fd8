// GGUF, versions 2 and 3. Layout of a file, all numbers little endian:
//
//   "GGUF"  version u32  tensor count u64  metadata count u64
//   metadata:  key text, kind u32, value            text is a length u64 and its bytes;
//                                                   a list is a kind u32, a count u64 and the elements
//   tensors:   name text, dimension count u32, dimensions u64 (innermost first), type u32, offset u64
//   padding to general.alignment (32 unless the metadata says otherwise), then the tensors' data, each padded likewise
//
// Every field is checked before it is used; offsets must be exactly those that the tensors' sizes give.
#pragma once

#include <optional>
#include <string>

#include "model/files/mapped_file.h"
#include "model/files/metadata.h"
#include "model/files/stored_tensor.h"

namespace ingot {

inline constexpr std::string_view gguf_magic = "GGUF";
inline constexpr std::string_view gguf_alignment_key = "general.alignment";
inline constexpr std::uint32_t gguf_default_alignment = 32;
inline constexpr std::uint32_t gguf_most_dimensions = 4;
inline constexpr std::uint32_t gguf_list_kind = 9;  // the one value kind that ValueKind does not name
inline constexpr std::size_t gguf_longest_tensor_name = 63;

class GgufFile {
 public:
  static Result<GgufFile> open(const std::string& path);
  // `bytes` must outlive the result.
  static Result<GgufFile> parse(std::span<const std::byte> bytes);

  std::uint32_t version() const { return version_; }
  std::uint32_t alignment() const { return alignment_; }
  const Metadata& metadata() const { return metadata_; }
  std::span<const TensorRecord> records() const { return records_; }
  // False for a file that ends where its tensors' data would begin: such files list tensors without holding them.
  bool has_data() const { return has_data_; }

  // See MappedFile::forget.
  void forget(std::span<const std::byte> part) const {
    if (file_) file_->forget(part);
  }
  // What is mapped; null: what was parsed is memory of somebody else.
  const MappedFile* mapped() const { return file_ ? &*file_ : nullptr; }
  // Fails on a type that this project cannot use, and without data. The result views this file.
  Result<StoredTensors> tensors() const { return StoredTensors::of(records_); }

 private:
  friend class GgufParser;
  GgufFile() = default;

  std::optional<MappedFile> file_;
  Metadata metadata_;
  std::vector<TensorRecord> records_;
  std::uint32_t version_ = 0;
  std::uint32_t alignment_ = gguf_default_alignment;
  bool has_data_ = true;
};

}  // namespace ingot
