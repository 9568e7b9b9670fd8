#include "model/files/weights_of_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/files/mapped_file.h"
#include "model/files/quoted.h"
#include "model/files/safetensors_index.h"

namespace ingot {

namespace {

constexpr std::string_view weights_ending = ".safetensors";
constexpr std::string_view adapter_name = "adapter_model.safetensors";  // a few weights that are added to a model's

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// What an index lists, or nothing where it cannot be read.
std::set<std::string> shards_of(const std::string& index_path) {
  const Result<MappedFile> file = MappedFile::open(index_path);
  if (!file.ok()) return {};
  const Result<std::vector<ShardedTensor>> tensors = read_safetensors_index(file.value().text());
  if (!tensors.ok()) return {};
  std::set<std::string> shards;
  for (const ShardedTensor& tensor : tensors.value()) shards.insert(tensor.file);
  return shards;
}

bool is_complete(const std::string& folder, const std::string& index) {
  const std::set<std::string> shards = shards_of(inside(folder, index));
  return !shards.empty() &&
         std::ranges::all_of(shards, [&](const std::string& shard) { return exists(inside(folder, shard)); });
}

// "a, b, c, ..."
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t index = 0; index < std::min(names.size(), most); ++index) {
    text += (index == 0 ? "" : ", ") + names[index];
  }
  return names.size() > most ? text + ", ..." : text;
}

Error too_many(const std::string& folder, std::string_view what, const std::vector<std::string>& names) {
  return Error::of(ErrorCode::unsupported, Quoted{folder}, ": expected ", whole_model_name, ", ", shard_index_name,
                   " or one other ", what, ", found ", std::string_view(listed(names)),
                   ": name the one that you mean in place of the folder");
}

}  // namespace

bool is_shard_index(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return name.ends_with(".json") && name.find(".safetensors.index") != std::string_view::npos;
}

std::string inside(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path += name;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::vector<std::string> names_in(const std::string& folder, const std::function<bool(std::string_view)>& is_wanted) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_wanted(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Where both are present the whole file counts, as it does for other readers of such folders.
std::optional<std::string> usual_weights_of(const std::string& folder) {
  for (const std::string_view name : {whole_model_name, shard_index_name}) {
    if (std::string path = inside(folder, name); exists(path)) return path;
  }
  return std::nullopt;
}

Result<std::optional<std::string>> other_weights_of(const std::string& folder) {
  const std::vector<std::string> indexes = names_in(folder, is_shard_index);
  if (indexes.size() == 1) return std::optional(inside(folder, indexes.front()));
  if (!indexes.empty()) {
    std::vector<std::string> complete;
    std::ranges::copy_if(indexes, std::back_inserter(complete),
                         [&](const std::string& index) { return is_complete(folder, index); });
    if (complete.size() != 1) return too_many(folder, "index whose files are all there", indexes);
    return std::optional(inside(folder, complete.front()));
  }
  const std::vector<std::string> files =
      names_in(folder, [](std::string_view name) { return name.ends_with(weights_ending) && name != adapter_name; });
  if (files.size() == 1) return std::optional(inside(folder, files.front()));
  if (!files.empty()) return too_many(folder, ".safetensors file", files);
  return std::optional<std::string>();
}

Result<void> require_no_shard(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::string name = file_name(path);
  for (const std::string& index : names_in(folder, is_shard_index)) {
    const std::set<std::string> shards = shards_of(inside(folder, index));
    if (shards.size() < 2 || !shards.contains(name)) continue;
    return Error::of(ErrorCode::unsupported, Quoted{path}, ": expected a whole model, found one part of ",
                     shards.size(), " (", std::string_view(index), " lists them): give the folder ",
                     Quoted{folder.empty() ? "." : folder}, ", or that index");
  }
  return {};
}

}  // namespace ingot
