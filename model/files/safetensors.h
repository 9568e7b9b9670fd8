// The safetensors format: a length u64, that many bytes of JSON header, then the tensors' data without holes.
//
//   {"__metadata__": {"format": "pt"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//
// The data of all tensors must cover the rest of the file exactly, each with the size its shape and type demand.
#pragma once

#include <optional>
#include <string>

#include "model/files/mapped_file.h"
#include "model/files/metadata.h"
#include "model/files/stored_tensor.h"

namespace ingot {

class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::string& path);
  // `bytes` must outlive the result.
  static Result<SafetensorsFile> parse(std::span<const std::byte> bytes);

  const Metadata& metadata() const { return metadata_; }              // the texts under __metadata__
  std::span<const TensorRecord> records() const { return records_; }  // in the order of their data

  // See MappedFile::forget.
  void forget(std::span<const std::byte> part) const {
    if (file_) file_->forget(part);
  }
  // What is mapped; null: what was parsed is memory of somebody else.
  const MappedFile* mapped() const { return file_ ? &*file_ : nullptr; }
  // Fails on a type that this project cannot use. The result views this file.
  Result<StoredTensors> tensors() const { return StoredTensors::of(records_); }

 private:
  SafetensorsFile() = default;

  std::optional<MappedFile> file_;
  Metadata metadata_;
  std::vector<std::string> names_;  // what the records' names view: JSON texts may be escaped
  std::vector<TensorRecord> records_;
};

}  // namespace ingot
