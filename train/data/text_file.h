// A file of text that a training run reads: mapped, and known to be UTF-8 from its first byte to its last.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "model/files/mapped_file.h"

namespace ingot {

class TextFile {
 public:
  // The error of a file that is no UTF-8 names the first wrong byte.
  static Result<TextFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string_view text() const { return file_.text(); }

 private:
  TextFile(std::string path, MappedFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  MappedFile file_;
};

// Where the first byte lies that belongs to no character, or the text's size.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace ingot
