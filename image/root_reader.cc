#include "image/root_reader.h"

#include <algorithm>
#include <deque>
#include <filesystem>

#include "image/bytes.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t longest_configuration = 1 << 20;

std::optional<std::string> configuration_of(const Result<Content>& content) {
  if (!content.ok()) return {};
  Result<std::string> text = content.value().read(longest_configuration);
  return text.ok() ? std::optional(std::move(text).value()) : std::nullopt;
}

// One '*' at most.
bool matches_pattern(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

RootReader reader_of(const FileTree& tree) {
  RootReader reader;
  reader.read = [&tree](const std::string& path) -> std::optional<std::string> {
    const Result<std::string> found = tree.resolve(path);
    if (!found.ok() || tree.at(found.value())->kind != FileNode::Kind::file) return {};
    return configuration_of(Content(tree.at(found.value())->content));
  };
  reader.list = [&tree](const std::string& pattern) {
    std::vector<std::string> found;
    for (const auto& [path, node] : tree.nodes()) {
      if (parent_of(path) == parent_of(pattern) && matches_pattern(last_name(path), last_name(pattern)))
        found.push_back(path);
    }
    return found;
  };
  return reader;
}

RootReader reader_of_folder(const std::string& root) {
  RootReader reader;
  reader.read = [root](const std::string& path) -> std::optional<std::string> {
    const Result<std::string> found = resolve_below(root, path);
    return found.ok() ? configuration_of(Content::of_file(found.value())) : std::nullopt;
  };
  reader.list = [root](const std::string& pattern) {
    const std::string folder(parent_of(pattern));
    std::vector<std::string> found;
    std::error_code problem;
    const Result<std::string> place = resolve_below(root, folder);
    if (!place.ok()) return found;
    for (const auto& entry : std::filesystem::directory_iterator(place.value(), problem)) {
      const std::string name = entry.path().filename().string();
      if (!matches_pattern(name, last_name(pattern))) continue;
      found.push_back(folder);
      found.back().append("/").append(name);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  return reader;
}

Result<std::string> resolve_below(const std::string& root, const std::string& path) {
  namespace fs = std::filesystem;
  std::deque<std::string> rest;
  for (const fs::path& name : fs::path(path).relative_path()) rest.push_back(name.string());
  fs::path place = "/";
  std::error_code problem;
  for (int links = 0; !rest.empty();) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      place = place.parent_path();
      continue;
    }
    const fs::path next = place / name;
    const fs::path target = fs::read_symlink(fs::path(root + next.string()), problem);
    if (problem) {  // not a link
      place = next;
      continue;
    }
    if (++links > 40) return Error::of(ErrorCode::corrupt, "expected an end of links, found none at '", path, "'");
    if (target.is_absolute()) place = "/";
    std::deque<std::string> names;
    for (const fs::path& part : target.relative_path()) names.push_back(part.string());
    rest.insert(rest.begin(), names.begin(), names.end());
  }
  const std::string found = root + place.string();
  if (fs::exists(found, problem)) return found;
  return Error::of(ErrorCode::not_found, "expected '", shortened(path), "' below '",
                   shortened(root.empty() ? "/" : root), "', found no such file");
}

}  // namespace ingot::image
