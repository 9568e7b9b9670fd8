#include "image/library_directories.h"

#include <algorithm>
#include <sstream>

namespace ingot::image {

namespace {

constexpr int deepest_include = 8;

void read_configuration(const RootReader& root, const std::string& path, int depth, std::vector<std::string>& found) {
  const std::optional<std::string> text = root.read(path);
  if (!text || depth == deepest_include) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    if (word == "include") {
      while (words >> word) {
        if (!word.starts_with('/')) word.insert(0, "/etc/");
        for (const std::string& included : root.list(word)) read_configuration(root, included, depth + 1, found);
      }
    } else if (word.starts_with('/') && std::find(found.begin(), found.end(), word) == found.end()) {
      found.push_back(word);
    }
  }
}

}  // namespace

std::vector<std::string> configured_library_directories(const RootReader& root) {
  std::vector<std::string> found;
  read_configuration(root, "/etc/ld.so.conf", 0, found);
  return found;
}

std::vector<std::string> split_paths(const std::string& list) {
  std::vector<std::string> paths;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) paths.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

}  // namespace ingot::image
