// A file that appears whole or not at all: written under a temporary name in the same folder, flushed to the disk, then
// renamed over the target. Until commit() succeeds the target is untouched, and the temporary file goes away.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace ingot {

class ReplacedFile {
 public:
  static Result<ReplacedFile> create(const std::string& path);

  ReplacedFile(ReplacedFile&& other) noexcept;
  ReplacedFile& operator=(ReplacedFile&&) = delete;
  ~ReplacedFile();

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write_zeros(std::uint64_t count);
  Result<void> commit();

 private:
  ReplacedFile(std::string path, std::string temporary, int descriptor);
  Result<void> flush();
  Result<void> write_through(std::span<const std::byte> bytes);
  Error failure(std::string_view action, int code) const;

  std::string path_;
  std::string temporary_;
  int descriptor_;
  std::vector<std::byte> buffer_;
};

}  // namespace ingot
