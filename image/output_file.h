// OutputFile: a file that appears under its name only when it is whole. A cast that fails leaves what was there before.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "image/content.h"

namespace ingot::image {

// Whether a file can have this name: in a folder that is there, and no folder's own.
Result<void> check_output_name(const std::string& path);

class OutputFile {
 public:
  // Fails where the name is a directory or a device, where the folder is missing, or where the disk has less room.
  static Result<OutputFile> create(const std::string& path, std::uint64_t expected_bytes);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // what was not committed goes

  // Is told how many bytes are written, after each piece.
  void watch(std::function<void(std::uint64_t)> watcher) { watcher_ = std::move(watcher); }

  Result<void> write(std::string_view bytes);
  Result<void> write(const Content& content);
  // Zeros up to this offset, as a hole where the file system can.
  Result<void> skip_to(std::uint64_t offset);
  // Other bytes in the place of some that are written. Fails where they would reach over the end.
  Result<void> replace(std::uint64_t offset, std::string_view bytes);
  std::uint64_t written() const { return written_; }
  Result<void> commit();

 private:
  OutputFile(std::string path, std::string temporary, int descriptor);

  std::string path_, temporary_;
  int descriptor_;
  std::uint64_t written_ = 0;
  std::function<void(std::uint64_t)> watcher_;
};

}  // namespace ingot::image
