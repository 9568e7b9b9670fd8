#include "model/files/model_file.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "model/files/json_metadata.h"
#include "model/files/quoted.h"
#include "model/files/safetensors_index.h"

namespace ingot {

namespace {

constexpr std::string_view companion_names[ModelFile::companion_count] = {
    "config.json",         "tokenizer.json",       "tokenizer_config.json", "generation_config.json",
    "chat_template.jinja", "1_Pooling/config.json"};
constexpr std::string_view whole_model_name = "model.safetensors";
constexpr std::string_view index_name = "model.safetensors.index.json";

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::string inside(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path += name;
}

// In the order of their names. A folder that cannot be read holds none.
std::vector<std::string> gguf_files_of(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".gguf") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
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
    Result<ModelFile> model = of_gguf(TRY(GgufFile::open(path)));
    if (!model.ok()) return model.error().within(Quoted{path});
    return model;
  };
  if (path.ends_with(".gguf")) return open_gguf();
  if (path.ends_with(".safetensors")) {
    ModelFile model = TRY(open_safetensors(path));
    const std::string folder = std::filesystem::path(path).parent_path().string();
    if (!exists(inside(folder, companion_names[0]))) return model;
    if (exists(inside(folder, index_name)) && !path.ends_with(whole_model_name)) {
      return Error::of(ErrorCode::unsupported, Quoted{path}, ": expected a whole model, found one part of several (",
                       index_name, " stands beside it): give the folder ", Quoted{folder.empty() ? "." : folder});
    }
    TRY(model.read_companions(folder));
    return model;
  }
  const MappedFile file = TRY(MappedFile::open(path));
  if (file.text().starts_with(gguf_magic)) return open_gguf();
  return Error::of(ErrorCode::unsupported, Quoted{path},
                   ": expected a .gguf file, a .safetensors file or a folder with config.json, found neither");
}

Result<ModelFile> ModelFile::parse_gguf(std::span<const std::byte> bytes) {
  return of_gguf(TRY(GgufFile::parse(bytes)));
}

Result<ModelFile> ModelFile::of_gguf(GgufFile file) {
  ModelFile model;
  model.gguf_ = std::move(file);
  model.metadata_ = model.gguf_->metadata();
  const Result<std::int64_t> parts = model.metadata_.integer_or("split.count", 1);
  if (parts.ok() && parts.value() > 1) {
    return Error::of(ErrorCode::unsupported, "expected a model in one file, found one of ", parts.value(),
                     " parts (split.count): merge them first");
  }
  model.tensors_ = TRY(model.gguf_->tensors());
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
  const bool has_weights = exists(inside(folder, whole_model_name)) || exists(inside(folder, index_name));
  if (has_weights && exists(inside(folder, companion_names[0]))) return open_hugging_face(folder);
  const std::vector<std::string> candidates = gguf_files_of(folder);
  if (candidates.size() == 1) return open(candidates.front());
  if (!candidates.empty()) {
    return Error::of(ErrorCode::unsupported, Quoted{folder}, ": expected one .gguf file, found ", candidates.size(),
                     ": give one of them, such as ", Quoted{candidates.front()});
  }
  return Error::of(ErrorCode::not_found, Quoted{folder}, ": expected config.json and ", whole_model_name, " or ",
                   index_name, ", or one .gguf file, found neither");
}

Result<ModelFile> ModelFile::open_hugging_face(const std::string& folder) {
  const std::string whole = inside(folder, whole_model_name);
  // Where both are present the whole file counts, as it does for other readers of such folders.
  if (exists(whole)) {
    ModelFile model = TRY(open_safetensors(whole));
    TRY(model.read_companions(folder));
    return model;
  }
  ModelFile model;
  TRY(model.read_shards(folder, inside(folder, index_name)));
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

void ModelFile::forget(std::span<const std::byte> part) const {
  if (gguf_) gguf_->forget(part);
  for (const SafetensorsFile& file : safetensors_) file.forget(part);
}

std::optional<std::string_view> ModelFile::companion(Companion which) const {
  const std::optional<MappedFile>& file = companions_[static_cast<std::size_t>(which)];
  if (!file) return std::nullopt;
  return file->text();
}

}  // namespace ingot
