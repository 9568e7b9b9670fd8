// A model as it lies on the disk, whatever its format: metadata and tensors under the names the file gives them. What
// they mean (which architecture, which weight) is for others to say.
//
//   a .gguf file                metadata and tensors as GGUF names them; of any piece of a model in several files, all
//                               of them (see gguf_pieces.h)
//   a Hugging Face folder       config.json flattened into metadata (see json_metadata.h), and the tensors of
//                               model.safetensors, or of the shards that model.safetensors.index.json lists
//   another folder              the one model in .gguf files in it; else, beside config.json, the one in .safetensors
//                               files (see weights_of_folder.h)
//   a .safetensors file         as its folder, where config.json stands beside it; else metadata is its __metadata__
//   an index of shards          as its folder, with the shards that this index lists
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/files/gguf.h"
#include "model/files/safetensors.h"

namespace ingot {

class ModelFile {
 public:
  enum class Format : std::uint8_t { gguf, safetensors, hugging_face };
  // Other files of a Hugging Face folder, as text.
  enum class Companion : std::uint8_t {
    config,
    tokenizer,
    tokenizer_config,
    generation_config,
    chat_template,
    pooling
  };
  static constexpr std::size_t companion_count = 6;

  static Result<ModelFile> open(const std::string& path);
  // A GGUF file in memory that outlives the result.
  static Result<ModelFile> parse_gguf(std::span<const std::byte> bytes);

  Format format() const { return format_; }
  const Metadata& metadata() const { return metadata_; }
  std::span<const StoredTensor> tensors() const { return tensors_.all(); }
  const StoredTensor* find(std::string_view name) const { return tensors_.find(name); }  // null: no such tensor
  // A part of a Hugging Face folder's model: other metadata, and the tensors whose names start with none of `others`.
  // This must outlive it.
  ModelFile part(Metadata metadata, std::span<const std::string_view> others) const;
  // See MappedFile::forget.
  void forget(std::span<const std::byte> part) const;
  // Copies a part of a tensor: see MappedFile::read.
  Result<void> read(std::span<const std::byte> part, std::byte* to) const;
  // The files that its weights lie in, as far as they are mapped.
  std::vector<const MappedFile*> mapped() const;
  // Nothing where the folder has no such file, and for the other formats.
  std::optional<std::string_view> companion(Companion which) const;

 private:
  ModelFile() = default;
  static Result<ModelFile> of_gguf(std::vector<GgufFile> pieces);
  static Result<ModelFile> open_safetensors(const std::string& path);
  static Result<ModelFile> open_folder(const std::string& folder);
  static Result<ModelFile> open_hugging_face(const std::string& folder, const std::string& weights_path);
  Result<void> read_companions(const std::string& folder);
  Result<void> read_shards(const std::string& folder, const std::string& index_path);

  Format format_ = Format::gguf;
  Metadata metadata_;
  // What the tensors view; moving these objects does not move what they hold.
  std::vector<GgufFile> gguf_;
  std::vector<SafetensorsFile> safetensors_;
  std::array<std::optional<MappedFile>, companion_count> companions_;
  StoredTensors tensors_;
};

std::string_view name_of(ModelFile::Format format);

}  // namespace ingot
