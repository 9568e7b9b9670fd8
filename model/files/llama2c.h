// Checkpoints of the llama2.c project (a header of seven i32, then f32 weights) with its vocabulary file, read as the
// llama model that they are, under GGUF's names. Its rotary embedding turns neighbouring pairs, as GGUF's llama does,
// so the weights stay as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/files/mapped_file.h"
#include "model/files/metadata.h"
#include "model/files/stored_tensor.h"

namespace ingot {

class Llama2cFile {
 public:
  static Result<Llama2cFile> open(const std::string& model_path, const std::string& vocabulary_path);
  // `model` must outlive the result; the vocabulary is copied.
  static Result<Llama2cFile> parse(std::span<const std::byte> model, std::span<const std::byte> vocabulary);

  const Metadata& metadata() const { return metadata_; }
  std::span<const StoredTensor> tensors() const { return tensors_.all(); }

 private:
  Llama2cFile() = default;

  std::optional<MappedFile> file_;
  Metadata metadata_;
  std::vector<std::string> names_;
  StoredTensors tensors_;
};

}  // namespace ingot
