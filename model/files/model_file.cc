#include "model/files/model_file.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "model/files/gguf_pieces.h"
#include "model/files/json_metadata.h"
#include "model/files/quoted.h"
#include "model/files/safetensors_index.h"
#include "model/files/weights_of_folder.h"

namespace ingot {

namespace {

constexpr std::string_view companion_names[ModelFile::companion_count] = {
    "config.json",         "tokenizer.json",       "tokenizer_config.json", "generation_config.json",
    "chat_template.jinja", "1_Pooling/config.json"};

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// One path for each model: the first of its pieces that is there.
std::vector<std::string> gguf_models_of(const std::string& folder) {
  std::vector<std::string> paths;
  std::set<std::string> models;  // those in pieces: pieces of two of one name lie mixed
  for (const std::string& name : names_in(folder, [](std::string_view each) { return each.ends_with(".gguf"); })) {
    const std::optional<GgufPieceName> piece = gguf_piece_name(name);
    if (piece && !models.insert(piece->path_of(1)).second) continue;
    paths.push_back(inside(folder, name));
  }
  return paths;
}

using RecordsByName = std::map<std::string_view, const TensorRecord*>;

RecordsByName by_name(const SafetensorsFile& file) {
  RecordsByName records;
  for (const TensorRecord& record : file.records()) records.emplace(record.name, &record);
  return records;
}

}  // namespace

std::string_view name_of(ModelFile::Format format) {
  switch (format) {
    case ModelFile::Format::gguf: return "GGUF";
    case ModelFile::Format::safetensors: return "safetensors";
    case ModelFile::Format::hugging_face: return "Hugging Face";
  }
  return "unknown";
}

Result<ModelFile> ModelFile::open(const std::string& path) {
  if (is_folder(path)) return open_folder(path);
  const auto open_gguf = [&]() -> Result<ModelFile> {
    Result<ModelFile> model = of_gguf(TRY(open_gguf_pieces(path)));
    if (!model.ok()) return model.error().within(Quoted{path});
    return model;
  };
  if (path.ends_with(".gguf")) return open_gguf();
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const bool has_config = exists(inside(folder, companion_names[0]));
  if (path.ends_with(".safetensors")) {
    if (!has_config) return open_safetensors(path);
    TRY(require_no_shard(path));
    return open_hugging_face(folder, path);
  }
  if (is_shard_index(path) && has_config) return open_hugging_face(folder, path);
  const MappedFile file = TRY(MappedFile::open(path));
  if (file.text().starts_with(gguf_magic)) return open_gguf();
  return Error::of(ErrorCode::unsupported, Quoted{path},
                   ": expected a .gguf file, a .safetensors file or a folder with config.json, found neither");
}

Result<ModelFile> ModelFile::parse_gguf(std::span<const std::byte> bytes) {
  std::vector<GgufFile> pieces;
  pieces.push_back(TRY(GgufFile::parse(bytes)));
  const Result<std::int64_t> count = pieces.front().metadata().integer_or(gguf_split_count_key, 1);
  if (count.ok() && count.value() > 1) {
    return Error::of(ErrorCode::unsupported, "expected a model in one piece of memory, found one of ", count.value(),
                     " pieces (", gguf_split_count_key, "): give a file's name");
  }
  return of_gguf(std::move(pieces));
}

Result<ModelFile> ModelFile::of_gguf(std::vector<GgufFile> pieces) {
  ModelFile model;
  model.gguf_ = std::move(pieces);
  const Metadata& first = model.gguf_.front().metadata();
  model.metadata_ = model.gguf_.size() == 1 ? first : TRY(metadata_of_whole(first));
  std::vector<TensorRecord> records;
  for (const GgufFile& piece : model.gguf_) {
    records.insert(records.end(), piece.records().begin(), piece.records().end());
  }
  model.tensors_ = TRY(StoredTensors::of(records));
  return model;
}

Result<ModelFile> ModelFile::open_safetensors(const std::string& path) {
  ModelFile model;
  model.format_ = Format::safetensors;
  const SafetensorsFile& file = model.safetensors_.emplace_back(TRY(SafetensorsFile::open(path)));
  model.metadata_ = file.metadata();
  Result<StoredTensors> tensors = file.tensors();
  if (!tensors.ok()) return tensors.error().within(Quoted{path});
  model.tensors_ = std::move(tensors).value();
  return model;
}

Result<ModelFile> ModelFile::open_folder(const std::string& folder) {
  const bool has_config = exists(inside(folder, companion_names[0]));
  if (const std::optional<std::string> usual = usual_weights_of(folder); usual && has_config) {
    return open_hugging_face(folder, *usual);
  }
  const std::vector<std::string> candidates = gguf_models_of(folder);
  if (candidates.size() == 1) return open(candidates.front());
  if (!candidates.empty()) {
    return Error::of(ErrorCode::unsupported, Quoted{folder},
                     ": expected one .gguf file, or the pieces of one model, found ", candidates.size(),
                     ": give one of them, such as ", Quoted{candidates.front()});
  }
  if (has_config) {
    if (const auto other = TRY(other_weights_of(folder))) return open_hugging_face(folder, *other);
  }
  return Error::of(ErrorCode::not_found, Quoted{folder}, ": expected config.json and ", whole_model_name, " or ",
                   shard_index_name, ", or one .gguf file, found neither");
}

Result<ModelFile> ModelFile::open_hugging_face(const std::string& folder, const std::string& weights_path) {
  if (!is_shard_index(weights_path)) {
    ModelFile model = TRY(open_safetensors(weights_path));
    TRY(model.read_companions(folder));
    return model;
  }
  ModelFile model;
  TRY(model.read_shards(folder, weights_path));
  TRY(model.read_companions(folder));
  return model;
}

Result<void> ModelFile::read_companions(const std::string& folder) {
  format_ = Format::hugging_face;
  for (std::size_t which = 0; which < companion_count; ++which) {
    const std::string path = inside(folder, companion_names[which]);
    if (exists(path)) companions_[which] = TRY(MappedFile::open(path));
  }
  Result<Metadata> metadata = metadata_from_json(companion(Companion::config).value_or(std::string_view()));
  if (!metadata.ok()) return metadata.error().within(Quoted{inside(folder, companion_names[0])});
  metadata_ = std::move(metadata).value();
  return {};
}

// The index is the directory: what a shard holds besides is left out, what it lacks is an error.
Result<void> ModelFile::read_shards(const std::string& folder, const std::string& index_path) {
  const MappedFile index = TRY(MappedFile::open(index_path));
  Result<std::vector<ShardedTensor>> listed = read_safetensors_index(index.text());
  if (!listed.ok()) return listed.error().within(Quoted{index_path});
  std::map<std::string_view, RecordsByName> shards;
  std::vector<TensorRecord> records;
  for (const ShardedTensor& tensor : listed.value()) {
    auto shard = shards.find(tensor.file);
    if (shard == shards.end()) {
      safetensors_.push_back(TRY(SafetensorsFile::open(inside(folder, tensor.file))));
      shard = shards.emplace(tensor.file, by_name(safetensors_.back())).first;
    }
    const auto record = shard->second.find(tensor.name);
    if (record == shard->second.end()) {
      return Error::of(ErrorCode::corrupt, Quoted{index_path}, ": expected tensor ", Quoted{tensor.name}, " in ",
                       Quoted{tensor.file}, ", found no such tensor there");
    }
    records.push_back(*record->second);
  }
  Result<StoredTensors> tensors = StoredTensors::of(records);
  if (!tensors.ok()) return tensors.error().within(Quoted{index_path});
  tensors_ = std::move(tensors).value();
  return {};
}

ModelFile ModelFile::part(Metadata metadata, std::span<const std::string_view> others) const {
  ModelFile one;
  one.format_ = format_;
  one.metadata_ = std::move(metadata);
  one.tensors_ = tensors_.without(others);
  return one;
}

void ModelFile::forget(std::span<const std::byte> part) const {
  for (const GgufFile& file : gguf_) file.forget(part);
  for (const SafetensorsFile& file : safetensors_) file.forget(part);
}

std::vector<const MappedFile*> ModelFile::mapped() const {
  std::vector<const MappedFile*> files;
  for (const GgufFile& file : gguf_) files.push_back(file.mapped());
  for (const SafetensorsFile& file : safetensors_) files.push_back(file.mapped());
  std::erase(files, nullptr);
  return files;
}

Result<void> ModelFile::read(std::span<const std::byte> part, std::byte* to) const {
  for (const MappedFile* file : mapped()) {
    if (file->has(part)) return file->read(part, to);
  }
  std::memcpy(to, part.data(), part.size());
  return {};
}

std::optional<std::string_view> ModelFile::companion(Companion which) const {
  const std::optional<MappedFile>& file = companions_[static_cast<std::size_t>(which)];
  if (!file) return std::nullopt;
  return file->text();
}

}  // namespace ingot
