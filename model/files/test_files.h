// For tests: bytes of files made in memory, a folder that goes away, and the outside data where it is given.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

inline std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// Appends fields as files store them.
class FileBytes {
 public:
  template <class Number>
  FileBytes& number(Number value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  FileBytes& raw(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  FileBytes& text(std::string_view value) { return number(static_cast<std::uint64_t>(value.size())).raw(value); }
  FileBytes& pad_to(std::size_t alignment) {
    while (bytes_.size() % alignment != 0) bytes_ += '\0';
    return *this;
  }
  const std::string& all() const { return bytes_; }

 private:
  std::string bytes_;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "ingot-files-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  void write(std::string_view name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::size_t file_count() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::string path_;
};

// Writes fail above this size while it lives, as they do on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

inline std::optional<std::string> outside_data(std::string_view folder) {
  const char* root = std::getenv("INGOT_OUTSIDE_DATA");
  if (root == nullptr) return std::nullopt;
  const std::string path = std::string(root) + "/" + std::string(folder);
  return std::filesystem::is_directory(path) ? std::optional(path) : std::nullopt;
}

// The first two columns of a folder's manifest.tsv.
inline std::vector<std::pair<std::string, std::string>> manifest_rows(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::ifstream manifest(folder + "/manifest.tsv");
  for (std::string line; std::getline(manifest, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t');
    if (first == std::string::npos) continue;
    const std::size_t second = line.find_first_of("\t\r", first + 1);
    rows.emplace_back(line.substr(0, first), line.substr(first + 1, second - first - 1));
  }
  return rows;
}

}  // namespace ingot
